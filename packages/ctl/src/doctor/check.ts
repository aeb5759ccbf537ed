import type { LoadedConfig } from '@portico/gateway/doctor'

/** `unknown` could not be checked from here; it is no problem, and no proof either. */
export type FindingStatus = 'problem' | 'warning' | 'unknown' | 'ok'

/** The result of a check about one thing. It never contains a secret. */
export interface DoctorFinding {
  readonly status: FindingStatus
  /** The thing that was checked, such as `backend orders`. */
  readonly about: string
  /** The verdict, as the rest of a sentence that begins with `about`. */
  readonly finding: string
  /** Why it matters, and what to do; empty when all is well. */
  readonly why: string
  readonly fix: string
}

/** The config and the limits of a run. */
export interface DoctorSubject {
  readonly config: LoadedConfig
  /** The folder of the config. */
  readonly dir: string
  readonly now: () => number
  /** The longest time for one connection, in milliseconds. */
  readonly timeoutMs: number
  /** Whether models may be asked for one token, which costs money. */
  readonly spendsTokens: boolean
  /** A URL whose `Date` header is the right time; null without one. */
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
