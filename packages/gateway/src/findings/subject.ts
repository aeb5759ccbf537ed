import type { RecordReason, RequestRecord } from '../telemetry/recorder/record.ts'
import type { Path } from '../schema/problem.ts'
import type {
  Candidate,
  Change,
  ExplainedRule,
  Passing,
  ReadValue,
  ReadonlyJson,
  Spending,
  SourceLocation,
} from './explanation.ts'
import type { OtherRecords } from './other-records.ts'
import { cut, sentence } from './words.ts'

/** One attachment of a policy, with its config. */
export interface AttachedConfig {
  readonly attachment: { readonly key: string }
  readonly config: object
}

/** The sections of policies in the config. */
export type PolicySection = 'traffic' | 'backend' | 'frontend'

/** The keys of the resources that handled a request. */
export interface RecordKeys {
  readonly listener: string | null
  readonly route: string | null
  readonly backend: string | null
}

/** The config that decided, for the explanation of one policy. */
export interface ConfigLookup {
  /** Whether the config that decided is still stored; without it the lookup finds nothing. */
  readonly isKnown: boolean
  /** The location in a file of a part of the config, or of what the path leads to from that part. */
  locate(part: object | null | undefined, path?: Path): SourceLocation | null
  /** All attachments of a policy that applied to the request, from the farthest to the nearest. */
  said(section: PolicySection, policy: string, keys: RecordKeys, phase: string | null): AttachedConfig[]
  /** The nearest of them, which took effect. */
  held(section: PolicySection, policy: string, keys: RecordKeys, phase: string | null): AttachedConfig | null
}

/** The subject of an explanation. */
export interface Subject {
  readonly record: RequestRecord
  readonly reason: RecordReason
  readonly view: ConfigLookup
  /** The attachment of the policy that decided; null when no policy decided, or when it is not in this config. */
  readonly held: AttachedConfig | null
  /** Null when other records are not available. */
  readonly others: OtherRecords | null
  /** Whether only the headline is read: parts that take long to compute are left out. */
  readonly isBrief: boolean
}

/** The findings about one kind of decision. */
export interface Findings {
  /** Set when a more specific code than the record's is known. */
  readonly code?: string
  readonly headline: string
  readonly place?: SourceLocation | null
  readonly values?: readonly ReadValue[]
  readonly rules?: readonly ExplainedRule[]
  readonly candidates?: readonly Candidate[]
  readonly spending?: Spending | null
  readonly wouldPass?: readonly Passing[]
  readonly remarks?: readonly string[]
}

export type Explainer = (subject: Subject) => Findings

/** A value from the record, not redacted. */
export function value(name: string, found: unknown): ReadValue {
  if (found === undefined || found === null) return { name, value: null, state: 'absent' }
  return { name, value: found as ReadonlyJson, state: 'found' }
}

/** A value from the config; `notKept` when the config is no longer stored. */
export function configured({ view }: Pick<Subject, 'view'>, name: string, found: unknown): ReadValue {
  return view.isKnown ? value(name, found) : { name, value: null, state: 'notKept' }
}

/** A remedy with one change. */
export function remedy(by: Change['by'], text: string, about: Partial<Change> = {}): Passing {
  const change = { by, text, of: null, found: null, relation: null, value: null, example: null, place: null, ...about }
  return { text: sentence(text), changes: [change] }
}

/** A text among the values of a record; null for other values. */
export function textIn({ values }: RecordReason, name: string): string | null {
  const found = values[name]
  return typeof found === 'string' && found !== '' ? cut(found, 400) : null
}

export function numberIn({ values }: RecordReason, name: string): number | null {
  const found = values[name]
  return typeof found === 'number' ? found : null
}

/** The chosen form of a conditional policy, with its path. */
export function chosenForm({ reason, held }: Subject): { config: object; path: readonly (string | number)[] } | null {
  if (held === null) return null
  const { config } = held
  const forms = 'conditional' in config && Array.isArray(config.conditional) ? (config.conditional as unknown[]) : null
  if (forms === null) return { config, path: [] }
  const index = numberIn(reason, 'chosen')
  const form = index === null ? undefined : forms[index]
  if (index === null || typeof form !== 'object' || form === null || !('policy' in form)) return null
  return { config: form.policy as object, path: ['conditional', index, 'policy'] }
}

/** The location of a part of the policy that decided; `path` starts at the chosen form. */
export function placeIn(subject: Subject, ...path: (string | number)[]): SourceLocation | null {
  const form = chosenForm(subject)
  return subject.view.locate(subject.held?.config, [...(form?.path ?? []), ...path])
}
