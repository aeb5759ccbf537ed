import type { AttachedPolicy } from '@portico/gateway/ir'

/** Returns an inline policy of an object as a policy attached to it. */
export function toAttachedPolicy(
  target: Exclude<AttachedPolicy['target'], { kind: 'gateway' }>,
  parts: Partial<AttachedPolicy>,
): AttachedPolicy {
  return {
    key: `inline/${target.kind}/${target.key}`,
    target,
    frontend: null,
    traffic: null,
    phase: 'PostRouting',
    backend: null,
    ...parts,
  }
}
