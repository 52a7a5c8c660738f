// The health check runs this script. It initiates the replica set if necessary. The server is healthy if it accepts
// writes.
db.getSiblingDB('admin').auth('root', process.env.MONGO_INITDB_ROOT_PASSWORD);
try {
  rs.status();
} catch {
  rs.initiate({ _id: 'rs0', members: [{ _id: 0, host: 'mongodb:27017' }] });
}
if (!db.hello().isWritablePrimary) quit(1);
