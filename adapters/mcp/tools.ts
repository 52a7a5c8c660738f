import { type Caller, findRejection } from '../../core/access/permissions.ts';
import type { Operation } from '../api/operation.ts';
import { getSectionAnchor, operationSections } from '../api/operations.ts';

/** The anchors of the sections in the reference. */
export const sectionAnchors: readonly string[] = operationSections.map(getSectionAnchor);

/**
 * Returns the operations of some sections that a caller may call as tools, in the order of the reference. A response
 * with a secret is not for a model.
 */
export function listTools(caller: Caller, anchors: readonly string[]): Operation[] {
  return operationSections
    .filter((section) => anchors.includes(getSectionAnchor(section)))
    .flatMap(({ operations }) => operations)
    .filter((operation) => operation.lostSecretRemedy === undefined && !findRejection(caller, operation.permission));
}
