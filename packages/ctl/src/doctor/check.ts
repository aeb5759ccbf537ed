import type { LoadedConfig } from '@portico/gateway/doctor'

/**
 * The status of a finding. `unknown`: the check was not possible on this machine, so it found neither a problem nor
 * proof.
 */
export type FindingStatus = 'problem' | 'warning' | 'unknown' | 'ok'

/** A finding of a check about one subject, such as a backend. A finding never contains a secret. */
export interface DoctorFinding {
  readonly status: FindingStatus
  /** The subject of the finding, such as `backend orders`. */
  readonly about: string
  /** The verdict, worded as the rest of a sentence that begins with `about`. */
  readonly finding: string
  /** The effect of the problem; empty without a problem. */
  readonly why: string
  readonly fix: string
}

/** The config and the limits of a run. */
export interface DoctorSubject {
  readonly config: LoadedConfig
  /** The folder of the config file, which relative paths in the config start from. */
  readonly dir: string
  readonly now: () => number
  /** The longest time for one connection attempt, in milliseconds. */
  readonly timeoutMs: number
  /** Whether checks may send a request for one token to models, which costs money. */
  readonly spendsTokens: boolean
  /** A URL whose response has the correct time in its `Date` header; null when no such URL was given. */
  readonly timeFrom: string | null
}

export interface DoctorCheck {
  readonly name: string
  readonly summary: string
  run(this: void, subject: DoctorSubject): Promise<DoctorFinding[]>
}

export function fine(about: string, finding: string): DoctorFinding {
  return { status: 'ok', about, finding, why: '', fix: '' }
}

export function notChecked(about: string, finding: string): DoctorFinding {
  return { status: 'unknown', about, finding, why: '', fix: '' }
}
