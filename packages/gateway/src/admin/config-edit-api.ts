import type { IncomingMessage } from 'node:http'
import type {
  AppliedConfig,
  ApplyRequest,
  CheckedConfig,
  CheckRequest,
  ConfigHistory,
  PastConfigText,
} from './config-edit-view.ts'
import { type Reply, text } from './http.ts'
import { readJson } from './read-json.ts'

/** The editor of the config, which the main thread provides. */
export interface ConfigEditSource {
  check(request: CheckRequest): Promise<CheckOutcome>
  /** Callers have checked the token. */
  apply(request: ApplyRequest): Promise<ApplyOutcome>
  history(): ConfigHistory
  /** Null for one that is not kept. */
  past(generation: number): PastConfigText | null
  /** Why nothing may be written, and what to do; null where it may. */
  readonly closed: string | null
}

export type CheckOutcome = { kind: 'checked'; checked: CheckedConfig } | { kind: 'closed'; reason: string }

export type ApplyOutcome =
  | { kind: 'applied'; applied: AppliedConfig }
  | { kind: 'refused'; checked: CheckedConfig }
  /** Nothing can be applied here, or not from this. */
  | { kind: 'closed'; reason: string }
  /** By somebody else. */
  | { kind: 'changed'; reason: string }
  | { kind: 'failed'; reason: string }

export async function answerCheck(request: IncomingMessage, source: ConfigEditSource): Promise<Reply> {
  const body = await readEdit(request)
  if ('refused' in body) return body.refused
  const outcome = await source.check(body.edit)
  return outcome.kind === 'closed' ? text(409, `${outcome.reason}\n`) : json(200, outcome.checked)
}

/** `hasToken`: a session will not do, and on loopback nothing else will either. */
export async function answerApply(
  request: IncomingMessage,
  source: ConfigEditSource,
  hasToken: boolean,
): Promise<Reply> {
  if (source.closed !== null) return text(403, `${source.closed}\n`)
  if (!hasToken) return text(403, 'the admin token is required: authorization: Bearer <token>\n')
  const body = await readEdit(request)
  if ('refused' in body) return body.refused
  const { basedOn } = body
  if (basedOn === undefined) return text(400, 'expected `basedOn`, the `version` of /api/config\n')
  const outcome = await source.apply({ ...body.edit, basedOn })
  switch (outcome.kind) {
    case 'applied':
      return json(200, outcome.applied)
    case 'refused':
      return json(422, outcome.checked)
    case 'closed':
    case 'changed':
      return text(409, `${outcome.reason}\n`)
    case 'failed':
      return text(500, `${outcome.reason}\n`)
  }
}

/** The endpoints, as the start page of the admin server lists them. */
export const HISTORY_ROUTES: readonly { path: string; summary: string }[] = [
  { path: '/api/config/history', summary: 'earlier configs' },
  { path: '/api/config/history/{generation}', summary: 'the text of an earlier config, with redacted secrets' },
]

/** Null for a path that is none of the history's. */
export function answerHistory(path: string, source: ConfigEditSource): Reply | null {
  if (path === '/api/config/history') return json(200, source.history())
  const [, generation] = /^\/api\/config\/history\/(\d{1,15})$/.exec(path) ?? []
  if (generation === undefined) return null
  const past = source.past(Number(generation))
  return past === null ? text(404, `config ${generation} is no longer stored\n`) : json(200, past)
}

type ReadEdit = { edit: CheckRequest; basedOn: string | undefined } | { refused: Reply }

async function readEdit(request: IncomingMessage): Promise<ReadEdit> {
  const body = await readJson(request, MOST_EDIT_BYTES)
  if ('refused' in body) return body
  const { value } = body
  const members: Record<string, unknown> = typeof value === 'object' && value !== null ? { ...value } : {}
  const { basedOn, ...others } = members
  const edit = readCheckRequest(others)
  if (typeof edit === 'string') return rejectEdit(edit)
  if (basedOn !== undefined && typeof basedOn !== 'string') return rejectEdit('expected `basedOn`, a string')
  return { edit, basedOn }
}

/** Reads the members of an edit; returns the problem as a string. */
export function readCheckRequest(members: Readonly<Record<string, unknown>>): CheckRequest | string {
  const { text: edited, generation, ...others } = members
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return `unknown member ${JSON.stringify(unknown)}`
  if (typeof edited !== 'string') return 'expected `text`, a string'
  if (generation !== undefined && !Number.isSafeInteger(generation)) return 'expected `generation`, an integer'
  return { text: edited, ...(typeof generation === 'number' && { generation }) }
}

/** Texts are shown up to 2 MiB, and escaped in JSON. */
export const MOST_EDIT_BYTES = 4 * 1024 * 1024

function rejectEdit(problem: string): ReadEdit {
  return { refused: text(400, `${problem}\n`) }
}

export function json(status: number, value: unknown): Reply {
  return { status, type: 'application/json', body: `${JSON.stringify(value)}\n` }
}
