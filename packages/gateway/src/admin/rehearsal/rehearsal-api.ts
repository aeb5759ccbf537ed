import type { IncomingMessage } from 'node:http'
import type { Output } from '../../schema/kit.ts'
import { object } from '../../schema/kit.ts'
import { printPath } from '../../schema/problem.ts'
import { atLeastOneOf, exactlyOneOf } from '../../schema/rules.ts'
import { duration, integer, number, string } from '../../schema/fields/values.ts'
import { validate } from '../../schema/validate.ts'
import type { AdminCaller } from '../credentials.ts'
import { type Reply, text } from '../http.ts'
import { authorOf } from '../keys/author.ts'
import { readJson } from '../read-json.ts'
import type { EndedRehearsalView, RehearsalStateView, RehearsalView } from './rehearsal-view.ts'

/** The request body that starts a rehearsal. */
export type RehearsalRequest = Output<typeof REQUEST>

/** The reason why a rehearsal was not changed, with the status of the response. */
export interface RehearsalRefusal {
  readonly status: 400 | 404 | 409 | 410 | 503
  readonly problem: string
}

/** The rehearsal of a gateway; a gateway runs one rehearsal at a time. */
export interface RehearsalSource {
  state(): RehearsalStateView
  start(request: RehearsalRequest, by: string): Promise<RehearsalView | RehearsalRefusal>
  renew(id: string): RehearsalView | RehearsalRefusal
  /** Ends the rehearsal with this id; null ends any rehearsal that runs. */
  end(id: string | null, by: string): Promise<EndedRehearsalView | RehearsalRefusal>
}

export function answerRehearsal(source: RehearsalSource): Reply {
  return json(source.state())
}

/** Starts, renews or ends the rehearsal. The guard has authorized the caller. */
export async function changeRehearsal(
  action: 'start' | 'renew' | 'end',
  request: IncomingMessage,
  { source, caller }: { source: RehearsalSource; caller: AdminCaller },
): Promise<Reply> {
  const body = await readJson(request, MOST_BYTES)
  if ('refused' in body) return body.refused
  const by = authorOf(caller, request)
  if (action === 'start') {
    const read = validate(REQUEST, body.value)
    return read.ok ? replyOf(await source.start(read.value, by)) : refuse(read.problems)
  }
  const read = validate(action === 'renew' ? RENEWAL : END, body.value)
  if (!read.ok) return refuse(read.problems)
  const { id = null } = read.value
  return replyOf(action === 'renew' ? source.renew(id ?? '') : await source.end(id, by))
}

function replyOf(result: RehearsalView | RehearsalRefusal): Reply {
  return 'problem' in result ? text(result.status, `${result.problem}\n`) : json(result)
}

function refuse(problems: Extract<ReturnType<typeof validate>, { ok: false }>['problems']): Reply {
  const lines = problems.map(({ path, found, expected }) => {
    const at = path.length === 0 ? '' : `${printPath(path)}: `
    return `${at}found ${found}, expected ${expected}\n`
  })
  return text(400, lines.join(''))
}

function json(value: object): Reply {
  return { status: 200, type: 'application/json', body: `${JSON.stringify(value)}\n` }
}

const NAME = string({ min: 1, max: 1_024 }).optional()
const REQUEST = object(
  {
    backend: NAME,
    route: NAME,
    status: integer({ min: 400, max: 599 }).optional(),
    delay: duration({ min: '1ms', max: '1m' }).optional(),
    percentage: number({ min: 0.01, max: 100 }).prefault(100),
    for: duration({ min: '1s', max: '1h' }),
    lease: duration({ min: '1s', max: '1m' }).prefault('6s'),
  },
  [exactlyOneOf('backend', 'route'), atLeastOneOf('status', 'delay')],
)
const RENEWAL = object({ id: string({ min: 1, max: 64 }) })
const END = object({ id: string({ min: 1, max: 64 }).optional() })
const MOST_BYTES = 65_536
