import { createServer } from 'node:http';
import { DatabaseSync } from '@photostructure/sqlite';
import { PAGE_SIZE, RESPONSE_FIELDS, toDocument, toResponse } from './campaigns.js';

/**
 * The reference of the ratios on SQLite: `node:http` and the SQLite library, tuned by hand. It knows the keys in
 * advance, and has no validation, no rate limits and no log. If a request reads, SQLite creates the whole body of the
 * response. Each create is a commit, which waits for the disk.
 */
const callers = new Map(
  Object.entries(JSON.parse(process.env.CALLERS)).map(([key, caller]) => [`Bearer ${key}`, caller]),
);
const database = new DatabaseSync(process.env.SQLITE_FILE, { timeout: 10_000 });
database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4096');
// The trigram index of SQLite itself. Unlike the index of the service, it is one for all workspaces.
database.exec(`CREATE VIRTUAL TABLE IF NOT EXISTS reference_search USING fts5("searchText", content='', tokenize='trigram');
  INSERT INTO reference_search (rowid, "searchText") SELECT "row", "searchText" FROM campaigns
    WHERE NOT EXISTS (SELECT 1 FROM reference_search)`);

const selected = Object.keys(RESPONSE_FIELDS).map((field) => `'${field}', "record" ->> '$.${field}'`);
const response = `json_object('id', c."id", ${selected.join(', ')}, 'hasShared',
  json(iif(EXISTS (SELECT 1 FROM shares WHERE "id" = ? || '/' || c."id"), 'true', 'false')))`;
const page = 'ORDER BY "createdAt" DESC, "id" DESC LIMIT ? OFFSET ?';
const live = '"workspaceId" = ? AND "archived" = 0';
const prepareList = (from) => database.prepare(`SELECT json_group_array(${response}) AS body FROM (${from}) c`);
const readPage = prepareList(`SELECT "id", "record" FROM campaigns WHERE ${live} ${page}`);
const readMatches = prepareList(`SELECT "id", "record" FROM campaigns NOT INDEXED WHERE "row" IN
  (SELECT rowid FROM reference_search WHERE reference_search MATCH ?)
  AND ${live} AND instr("searchText", ?) ${page}`);
const readCampaign = database.prepare(
  `SELECT ${response} AS body FROM campaigns c WHERE "id" = ? AND +"workspaceId" = ?`,
);
const columns = [
  'id',
  'workspaceId',
  'archived',
  'createdAt',
  'updatedAt',
  'startsAt',
  'endsAt',
  'domain',
  'createdBy',
];
const addCampaign = database.prepare(
  `INSERT INTO campaigns (${[...columns, 'searchText'].map((column) => `"${column}"`).join(', ')}, "record")
   VALUES (${columns.map(() => '?').join(', ')}, ?, jsonb(?))`,
);
const indexText = database.prepare(`INSERT INTO reference_search (rowid, "searchText") SELECT last_insert_rowid(), ?`);

function list({ workspaceId, memberId }, url) {
  const query = new URLSearchParams(url.slice(url.indexOf('?') + 1));
  const search = query.get('search')?.toLowerCase();
  const range = [PAGE_SIZE, (Number(query.get('page') ?? 1) - 1) * PAGE_SIZE];
  if (!search) return readPage.get(memberId, workspaceId, ...range).body;
  return readMatches.get(memberId, `"${search.replaceAll('"', '""')}"`, workspaceId, search, ...range).body;
}

async function create(caller, request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const document = toDocument(JSON.parse(Buffer.concat(chunks)), caller);
  const { _id: id, ...fields } = document;
  const record = { id, ...fields };
  const values = columns.map((column) => (column === 'archived' ? Number(record.archived) : record[column]));
  database.exec('BEGIN IMMEDIATE');
  addCampaign.run(...values, record.searchText, JSON.stringify(record));
  indexText.run(record.searchText);
  database.exec('COMMIT');
  return JSON.stringify(toResponse(document, false));
}

function handle(request, caller) {
  const { method, url } = request;
  if (method === 'POST') return create(caller, request);
  if (!url.startsWith('/campaigns/')) return list(caller, url);
  const id = url.slice('/campaigns/'.length);
  return readCampaign.get(caller.memberId, id, caller.workspaceId)?.body;
}

createServer(async (request, response) => {
  const caller = callers.get(request.headers.authorization);
  const body = caller && (await handle(request, caller));
  const status = !caller ? 401 : !body ? 404 : request.method === 'POST' ? 201 : 200;
  const text = body || '{}';
  response.writeHead(status, ['Content-Type', 'application/json', 'Content-Length', Buffer.byteLength(text)]).end(text);
}).listen(Number(process.env.PORT), '127.0.0.1');
