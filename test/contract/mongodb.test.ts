import { engines } from '../support/engines/engines.ts';
// Starts the server before the first test, so that no time limit of a test includes a download.
import '../support/mongod.ts';
import { suite } from '../support/suite.ts';
import { defineStorageContract } from './storage-contract.ts';

suite('storage in MongoDB', ...defineStorageContract(await engines.mongodb()));
