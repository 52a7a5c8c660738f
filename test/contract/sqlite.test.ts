import { engines } from '../support/engines/engines.ts';
import { suite } from '../support/suite.ts';
import { defineStorageContract } from './storage-contract.ts';

suite('storage in SQLite', ...defineStorageContract(await engines.sqlite()));
