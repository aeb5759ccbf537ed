import type { Plugin } from '../scopes.ts'
import { closes, type Effect, effectOf, type PluginState, type ReadPlugin, type Reply } from './plugin.ts'

function withReply(state: PluginState, condition: string | null, policy: Reply['policy']): PluginState {
  const reply: Reply = condition === null ? { policy } : { condition, policy }
  const isEnded = state.replies.at(-1)?.condition === undefined && state.replies.length > 0
  return isEnded ? state : { ...state, replies: [...state.replies, reply] }
}

function both(one: string | null, other: string | null): string | null {
  return one === null || other === null ? (one ?? other) : `(${one}) && (${other})`
}

export function readRequestTermination(plugin: Plugin): ReadPlugin {
  const { config } = plugin
  const [status, message, body, type, echo, trigger] = [
    'status_code',
    'message',
    'body',
    'content_type',
    'echo',
    'trigger',
  ].map((name) => config.get(name))
  if (echo?.isTrue === true) return closes(plugin, "the gateway's response cannot repeat the request")
  const code = status?.number ?? 503
  const text = body?.text ?? JSON.stringify({ message: message?.text ?? MESSAGES[code] ?? 'Service unavailable' })
  const contentType = type?.text ?? 'application/json; charset=utf-8'
  if (code < 200 || code > 599 || text.length > 4_096 || /[^\x20-\x7e]/.test(contentType))
    return closes(plugin, 'the response has no counterpart in a directResponse policy')
  for (const each of [status, message, body, type, echo, trigger]) each?.carried()
  const policy = {
    status: code,
    ...(text !== '' && { body: text }),
    headers: [{ name: 'content-type', value: contentType }],
  }
  const name = trigger?.text ?? ''
  const condition =
    name === ''
      ? null
      : `default(request.headers.raw()[${JSON.stringify(name.toLowerCase())}], []).size() > 0 || ` +
        `default(request.uri.query(${JSON.stringify(name)}), []).size() > 0`
  return effectOf((state, when) => withReply(state, both(when, condition), policy))
}

const MESSAGES: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  404: 'Not found',
  405: 'Method not allowed',
  500: 'An unexpected error occurred',
  502: 'An invalid response was received from the upstream server',
  503: 'Service unavailable',
}

export function readRedirect(plugin: Plugin): ReadPlugin {
  const { config } = plugin
  const [status, location, keep] = ['status_code', 'location', 'keep_incoming_path'].map((name) => config.get(name))
  const code = status?.number ?? 301
  const target = location?.text ?? ''
  if (
    ![301, 302, 303, 307, 308].includes(code) ||
    !/^https?:\/\/[\x21-\x7e]{1,1000}$/.test(target) ||
    plugin.consumers !== null
  )
    return closes(plugin, 'the redirect has no counterpart')
  for (const each of [status, location, keep]) each?.carried()
  if (keep?.isTrue !== true) {
    const policy = { status: code, headers: [{ name: 'location', value: target }] }
    return effectOf((state) => withReply(state, null, policy))
  }
  const [, scheme = '', authority = ''] = /^(https?):\/\/([^/?#]+)/.exec(target) ?? []
  const requestRedirect = { scheme, authority: { full: authority }, status: code }
  return effectOf((state) => ({ ...state, policies: { ...state.policies, requestRedirect } }))
}

/**
 * Reads the plugin `request-size-limiting`. The gateway compares the `Content-Length` of requests, not the size of
 * bodies.
 */
export function readSizeLimit(plugin: Plugin): ReadPlugin {
  const { config } = plugin
  const [size, unit, required] = ['allowed_payload_size', 'size_unit', 'require_content_length'].map((name) =>
    config.get(name),
  )
  const factor = { megabytes: 1 << 20, kilobytes: 1 << 10, bytes: 1 }[unit?.text ?? 'megabytes']
  const most = (size?.number ?? 128) * (factor ?? 0)
  if (!Number.isInteger(most) || most < 1) return closes(plugin, 'the size limit is not a positive number')
  unit?.carried()
  const isRequired = required?.isTrue === true
  required?.carried()
  if (isRequired) size?.carried()
  else (size ?? config.field).changed('the gateway does not limit bodies without content-length', true)
  const length = 'default(request.headers["content-length"], "0")'
  const effect: Effect = (state, when) => {
    const limited = withReply(state, both(when, `int(${length}) > ${most}`), { status: 413 })
    const isMissing = '!("content-length" in request.headers)'
    return isRequired ? withReply(limited, both(when, isMissing), { status: 411 }) : limited
  }
  return effectOf(effect)
}
