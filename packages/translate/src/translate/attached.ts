import type { AttachedPolicy } from '@portico/gateway/ir'

/** What stands in an object itself, as a policy that is attached to it. */
export function attached(
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
