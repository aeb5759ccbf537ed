import type { TargetFailureCause } from '../records/mcp-record.ts'
import type { RecordedMcp } from '../telemetry/recorder/record.ts'
import type { Passing } from '../findings/explanation.ts'
import { type Findings, value, remedy } from '../findings/subject.ts'
import type { ConfigExplainer, ConfigSubject } from './config-view.ts'
import { backendPlace } from './upstream.ts'
import { cut } from '../findings/words.ts'

/** Explains why an MCP message failed: the target, the failure, the number of attempts, and the remedy. */
export const mcpFailure: ConfigExplainer = (subject) => {
  const { mcp, attempts, endpoint, status, took } = subject.record
  if (mcp === null) return { headline: 'the MCP message failed' }
  const call = callOf(subject, mcp)
  const { code, headline, wouldPass } = causeOf(call)(call)
  const tried = attempts > 1 ? `, after ${attempts} attempts` : ''
  return {
    code,
    headline: `${headline}${tried}`,
    place: backendPlace(subject),
    values: [
      value('mcp.target', call.target),
      value('endpoint', endpoint),
      value('mcp.method', mcp.method),
      value('mcp.error.code', mcp.errorCode),
      value('mcp.error.message', mcp.errorMessage),
      value('attempts', attempts),
      value('took', `${Math.round(took / 1000)} ms`),
      value('status', status),
    ],
    wouldPass,
  }
}

/** Whether the outcome of a message is explained here; authorization rules have their own explanation. */
export function isMcpFailure(mcp: RecordedMcp | null): boolean {
  return mcp !== null && mcp.outcome !== null && mcp.outcome !== 'ok' && mcp.outcome !== 'denied'
}

interface FailedCall {
  readonly subject: ConfigSubject
  readonly mcp: RecordedMcp
  /** `MCP server weather (10.0.0.7:8080)`. */
  readonly server: string
  readonly target: string
  /** `tools/call forecast`. */
  readonly what: string
  /** The reason, without the name of the target. */
  readonly why: string
}

function callOf(subject: ConfigSubject, mcp: RecordedMcp): FailedCall {
  const { backend, endpoint } = subject.record
  const name = mcp.failure?.target || mcp.target
  const target = name === '' ? `an MCP server of backend ${backend ?? ''}`.trim() : name
  const address = endpoint === null || name === '' ? '' : ` (${endpoint})`
  return {
    ...{ subject, mcp, target },
    server: name === '' ? target : `MCP server ${name}${address}`,
    what: mcp.name === null ? mcp.method : `${mcp.method} ${cut(mcp.name, 80)}`,
    why: cut(withoutTarget(mcp, name)),
  }
}

/** Returns the error message without the name of the target, which the gateway puts in front of its own messages. */
function withoutTarget({ errorMessage, failure, outcome }: RecordedMcp, name: string): string {
  const isOwnText = failure?.cause === 'error_response' && outcome === 'error'
  const prefix = [`target ${name}: `, `${name}: `].find((each) => errorMessage.startsWith(each))
  return isOwnText || prefix === undefined ? errorMessage : errorMessage.slice(prefix.length)
}

type Cause = (call: FailedCall) => Required<Pick<Findings, 'code' | 'headline' | 'wouldPass'>>

function causeOf({ subject, mcp }: FailedCall): Cause {
  if (mcp.outcome === 'tool_error') return toolFailed
  if (mcp.outcome === 'cancelled') return cancelled
  if (subject.reason.kind === 'Timeout') return silent
  return mcp.failure === null ? rejected : CAUSES[mcp.failure.cause]
}

const works = (text: string): Passing => remedy('backend', text)

const toolFailed: Cause = ({ server, target, what, why }) => ({
  code: 'mcp_tool_error',
  headline: `${server} answered ${what}, and the tool failed${why === '' ? '' : `: ${why}`}`,
  wouldPass: [works(`${target} answers ${what} without an error`)],
})

const cancelled: Cause = ({ target, what }) => ({
  code: 'mcp_cancelled',
  headline: `the client cancelled ${what} before ${target} had answered`,
  wouldPass: [remedy('client', 'the client waits for the answer')],
})

/** The gateway rejected the message itself, before any target was called. */
const rejected: Cause = ({ mcp, what, why }) => ({
  code: 'mcp_error',
  headline: `the gateway answered ${what} with error ${mcp.errorCode ?? ''}: ${why}`,
  wouldPass: [remedy('client', 'the client sends a message that the error does not apply to')],
})

const answeredWithError: Cause = ({ mcp, server, target, what, why }) => ({
  code: 'mcp_error',
  headline: `${server} answered ${what} with error ${mcp.errorCode ?? ''}: ${why}`,
  wouldPass: [works(`${target} answers ${what} without an error`)],
})

const unreachable: Cause = ({ subject, server, target, what, why }) => ({
  code: 'mcp_target_unreachable',
  headline: `no connection to ${server} could be opened, so ${what} was not sent: ${why}`,
  wouldPass: [
    works(`${target} runs and accepts connections`),
    remedy('config', `the target ${target} has the address that its server listens on`, {
      place: backendPlace(subject),
    }),
  ],
})

const silent: Cause = ({ subject, server, target, what }) => {
  const { record, view } = subject
  const held = view.held('traffic', 'timeouts', record.keys, 'route')
  return {
    code: 'mcp_target_silent',
    headline: `${server} did not answer ${what} in time`,
    wouldPass: [
      works(`${target} answers faster, or sends progress`),
      remedy('config', '`timeouts.request` of the route is longer', {
        of: 'timeouts.request',
        place: view.locate(held?.config, ['request']),
      }),
    ],
  }
}

const lost: Cause = ({ server, target, what, why }) => ({
  code: 'mcp_target_lost',
  headline: `${server} was lost before its answer to ${what} was complete: ${why}`,
  wouldPass: [works(`${target} stays up until it has answered; its own log says why it did not`)],
})

const garbage: Cause = ({ subject, server, target, what, why }) => ({
  code: 'mcp_target_bad_answer',
  headline: `${server} sent an invalid response to ${what}: ${why}`,
  wouldPass: [
    works(`${target} answers with JSON-RPC 2.0`),
    remedy('config', `the target ${target} names host, port and path of an MCP server`, {
      place: backendPlace(subject),
    }),
  ],
})

const processGone: Cause = ({ server, target, what, why }) => ({
  code: 'mcp_process_ended',
  headline: `the program of ${server} is gone, and ${what} was not answered: ${why}`,
  wouldPass: [works(`the program of ${target} keeps running; what it wrote to stderr is in the log of the gateway`)],
})

const notStarted: Cause = ({ server, target, why, subject }) => ({
  code: 'mcp_process_not_started',
  headline: `the program of ${server} ${why.replace(/^it /, '')}`,
  wouldPass: [
    remedy('config', `the command of ${target} is a program that can be run where the gateway runs`, {
      place: backendPlace(subject),
    }),
  ],
})

const refused: Cause = (call) => {
  const { server, target, what, why, subject, mcp } = call
  const status = mcp.failure?.status ?? 0
  return {
    code: status === 401 || status === 403 ? 'mcp_target_denied' : 'mcp_target_http_error',
    headline: `${server} refused ${what}: ${why}`,
    wouldPass: [adviceFor(status, target, subject), works(`${target} answers ${what}`)],
  }
}

function adviceFor(status: number, target: string, subject: ConfigSubject): Passing {
  const place = backendPlace(subject)
  if (status === 401 || status === 403)
    return remedy('config', `the target ${target} has an \`auth\` policy with credentials that its server accepts`, {
      place,
    })
  if (status === 404 || status === 405)
    return remedy('config', `the target ${target} names the path of its MCP endpoint`, { place })
  if (status >= 300 && status < 400)
    return remedy(
      'config',
      `the target ${target} has the address that the redirect names: redirects are not followed`,
      {
        place,
      },
    )
  if (status === 429) return remedy('time', 'the limit of the server is free again')
  return remedy('backend', `${target} works again: its own log says why it failed`)
}

const failed: Cause = ({ server, target, what, why }) => ({
  code: 'mcp_target_failed',
  headline: `${server} did not answer ${what}: ${why}`,
  wouldPass: [works(`${target} answers ${what}`)],
})

const CAUSES: Readonly<Record<TargetFailureCause, Cause>> = {
  unreachable,
  timeout: silent,
  lost,
  invalid_response: garbage,
  http_error: refused,
  error_response: answeredWithError,
  process_not_started: notStarted,
  process_ended: processGone,
  other: failed,
}
