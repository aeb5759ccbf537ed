import { CredentialFault } from '../../pipeline/cloud-credentials.ts'
import { faultOf } from '../fault.ts'
import type { ExpiringValue } from '../renewed-credential.ts'
import type { CredentialServices } from '../services.ts'
import { isToken } from '../token.ts'

/** Requests a token from an OAuth endpoint and reads the response in the formats of the Azure endpoints. */
export async function askForToken(
  url: URL,
  request: { headers?: Record<string, string>; form?: Record<string, string> },
  { fetch, clock }: Pick<CredentialServices, 'fetch' | 'clock'>,
): Promise<ExpiringValue<string> | CredentialFault> {
  let answer
  try {
    const response = await fetch(url, {
      method: request.form === undefined ? 'GET' : 'POST',
      headers: { accept: 'application/json', ...request.headers },
      ...(request.form !== undefined && { body: new URLSearchParams(request.form) }),
      // A redirect must not carry secrets to another address.
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    answer = { status: response.status, body: await readJson(response) }
  } catch (error) {
    return faultOf(WHAT, error)
  }
  return answer.status === 200 ? readToken(answer.body, clock()) : refusal(answer)
}

function readToken(body: Record<string, unknown>, now: number): ExpiringValue<string> | CredentialFault {
  const token = body['access_token']
  if (!isToken(token)) return new CredentialFault(`${WHAT}: the response contains no token`)
  const seconds = Number(body['expires_in'])
  const end = Number(body['expires_on'])
  if (seconds > 0) return { value: token, lifetimeMs: seconds * 1000 }
  if (end > 0) return { value: token, lifetimeMs: end * 1000 - now }
  return new CredentialFault(`${WHAT}: the response has no expiry`)
}

/** The fault contains only the error code: error descriptions repeat what was sent. */
function refusal({ status, body }: { status: number; body: Record<string, unknown> }): CredentialFault {
  const code = body['error']
  const detail = typeof code === 'string' && /^[a-z_]{1,64}$/.test(code) ? `, ${code}` : ''
  return new CredentialFault(`${WHAT}: the endpoint answered ${status}${detail}`)
}

/** Returns an empty object when the body is not a JSON object. */
async function readJson(response: Response): Promise<Record<string, unknown>> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > MAX_BYTES) throw new RangeError('the response is too long')
    chunks.push(chunk)
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

const WHAT = 'no Azure token'
const TIMEOUT_MS = 5_000
const MAX_BYTES = 65_536
