/** JSON schemas, for the frameworks that validate with them. */

const text = { type: 'string', maxLength: 5000 };
const date = { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\d$' };
const amount = { type: ['string', 'number'] };
const status = { type: 'string', enum: ['draft', 'published', 'archived'] };

const newFields = {
  name: { type: 'string', minLength: 1, maxLength: 190 },
  description: text,
  shareContext: text,
  objective: text,
  status,
  destinationUrl: { type: 'string', maxLength: 2048, pattern: '^https?://' },
  startDate: date,
  endDate: date,
  shareRewardAmount: amount,
  clickRewardAmount: amount,
  maxRewardPerEmployee: amount,
  totalBudget: amount,
};

export const newCampaign = {
  $id: 'NewCampaign',
  type: 'object',
  required: Object.keys(newFields),
  additionalProperties: false,
  properties: newFields,
};

export const campaign = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    name: { type: 'string' },
    status: { type: 'string' },
    createdAt: { type: 'string' },
    description: { type: 'string' },
    destinationUrl: { type: ['string', 'null'] },
    clicks: { type: 'integer' },
    shares: { type: 'integer' },
    startDate: { type: 'string' },
    endDate: { type: 'string' },
    targetShares: { type: ['integer', 'null'] },
    hasShared: { type: 'boolean' },
  },
};

export const listQuery = {
  $id: 'ListQuery',
  type: 'object',
  additionalProperties: false,
  properties: { page: { type: 'integer', minimum: 1, default: 1 }, search: { type: 'string', maxLength: 200 } },
};
