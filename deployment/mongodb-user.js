// The MongoDB image runs this script when it initializes its data. It creates the user of the service.
db.getSiblingDB('admin').createUser({
  user: 'advocacy',
  pwd: process.env.MONGODB_PASSWORD,
  roles: [{ role: 'readWrite', db: 'advocacy' }],
});
