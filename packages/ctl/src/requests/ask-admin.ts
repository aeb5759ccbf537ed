import { type IncomingMessage, request } from 'node:http'
import type { AdminAddress } from '../trace/admin-address.ts'
import { connectionOf } from '../trace/connection-of.ts'
import { refusalProblem, unreachableProblem } from '../trace/problems.ts'

/** A response of the admin API: the value, not found, or the reason of a failure. */
type AdminResult<Answer> =
  | { readonly kind: 'answer'; readonly value: Answer }
  | { readonly kind: 'notFound'; readonly text: string }
  | { readonly kind: 'problem'; readonly problem: string }

export interface AdminRequest {
  readonly admin: AdminAddress
  readonly token: string | null
  readonly path: string
  /** GET when it is absent; other methods change something. */
  readonly method?: string
  readonly body?: object | null
  readonly signal?: AbortSignal
}

const MOST_BYTES = 512 * 1024 * 1024
const ANSWER_WITHIN_MS = 30_000

/** Reads JSON from the admin API. */
export async function askAdmin<Answer>(adminRequest: AdminRequest): Promise<AdminResult<Answer>> {
  const opened = await openAdmin(adminRequest, ANSWER_WITHIN_MS)
  if (opened.kind === 'problem') return opened
  const { response } = opened
  try {
    const text = await readAll(response)
    if (response.statusCode === 404 && text.startsWith('no record')) return { kind: 'notFound', text: text.trim() }
    if (response.statusCode === 200) return { kind: 'answer', value: JSON.parse(text) as Answer }
    return { kind: 'problem', problem: refusal(adminRequest, response, text) }
  } catch {
    return { kind: 'problem', problem: `${adminRequest.admin.label} is not an admin server of Portico` }
  }
}

type OpenResult =
  | { readonly kind: 'open'; readonly response: IncomingMessage }
  | { readonly kind: 'problem'; readonly problem: string }

/** Resolves with the head of the response; the caller reads the body. */
export function openAdmin(asked: AdminRequest, withinMs: number): Promise<OpenResult> {
  const { admin, token, path, method = 'GET', body = null, signal } = asked
  return new Promise((resolve) => {
    const fail = async (error: NodeJS.ErrnoException) =>
      resolve({ kind: 'problem', problem: (await admin.explain?.()) ?? unreachableProblem(admin, error) })
    const call = request({
      ...connectionOf(admin),
      path,
      method,
      headers: {
        ...('socketPath' in admin.connect ? { host: 'localhost' } : {}),
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(method === 'GET' ? {} : { 'x-portico-same-origin': '1' }),
        ...(body === null ? {} : { 'content-type': 'application/json' }),
      },
      ...(signal !== undefined && { signal }),
    })
    const late = setTimeout(() => call.destroy(new Error(`no response within ${withinMs / 1000} s`)), withinMs)
    call.on('error', (error: NodeJS.ErrnoException) => void fail(error))
    call.on('close', () => clearTimeout(late))
    call.on('response', (response) => {
      clearTimeout(late)
      resolve({ kind: 'open', response })
    })
    call.end(body === null ? undefined : JSON.stringify(body))
  })
}

export function refusal({ admin, token, path }: AdminRequest, response: IncomingMessage, text: string): string {
  const { statusCode } = response
  if (statusCode === 400) return `${admin.label} rejected the request: ${text.trim().split('\n', 1)[0] ?? ''}`
  const [plain = ''] = path.split('?', 1)
  return refusalProblem({ admin, token, response, text }).replace('/debug/trace', plain)
}

export async function readAll(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of response as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > MOST_BYTES) throw new Error('the response is too large')
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}
