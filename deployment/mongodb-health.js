// Run by the health check: a set of one that is not initiated yet is, and healthy is what takes writes.
db.getSiblingDB('admin').auth('root', process.env.MONGO_INITDB_ROOT_PASSWORD);
try {
  rs.status();
} catch {
  rs.initiate({ _id: 'rs0', members: [{ _id: 0, host: 'mongodb:27017' }] });
}
if (!db.hello().isWritablePrimary) quit(1);
