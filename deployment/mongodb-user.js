// Run by the image of MongoDB when it makes its data: the user as whom the service connects.
db.getSiblingDB('admin').createUser({
  user: 'advocacy',
  pwd: process.env.MONGODB_PASSWORD,
  roles: [{ role: 'readWrite', db: 'advocacy' }],
});
