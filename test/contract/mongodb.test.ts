import { engines } from '../support/engines/engines.ts';
// Starts MongoDB before the first test, so that the timeout of a test does not include a download of MongoDB.
import '../support/mongod.ts';
import { suite } from '../support/suite.ts';
import { defineStorageContract } from './storage-contract.ts';

suite('storage in MongoDB', ...defineStorageContract(await engines.mongodb()));
