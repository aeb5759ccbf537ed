import type { RehearsalRefusal, RehearsalSource } from '../../admin/rehearsal/rehearsal-api.ts'

const NONE: RehearsalRefusal = { status: 410, problem: 'no such rehearsal runs' }

/** The rehearsal source of a gateway that runs no rehearsals. */
export const noRehearsals: RehearsalSource = {
  state: () => ({ current: null, last: null }),
  start: () => Promise.resolve(NONE),
  renew: () => NONE,
  end: () => Promise.resolve(NONE),
}
