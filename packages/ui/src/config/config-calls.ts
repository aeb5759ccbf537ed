import type {
  AppliedConfig,
  ApplyRequest,
  BacktestAnswer,
  CheckedConfig,
  CheckRequest,
} from '@portico/gateway/admin-config'
import { call } from '../api/client.ts'
import { goToLogin, sessionProof } from '../api/session.ts'

type ApplyAnswer =
  | { kind: 'applied'; applied: AppliedConfig }
  | { kind: 'refused'; checked: CheckedConfig }
  /** Any other response, with the text of the gateway. */
  | { kind: 'failed'; status: number; text: string }

export async function checkConfig(request: CheckRequest, signal: AbortSignal): Promise<CheckedConfig> {
  const response = await post('/api/config/check', request, { signal })
  if (response.status === 401) goToLogin()
  if (!response.ok) throw new Error((await response.text()).trim().slice(0, 500))
  return (await response.json()) as CheckedConfig
}

/** Runs a back-test of an edited config with the newest records of the last hour. */
export async function runBacktest(request: CheckRequest, signal: AbortSignal): Promise<BacktestAnswer> {
  const response = await call('/api/backtest', { method: 'POST', body: request, signal })
  return (await response.json()) as BacktestAnswer
}

/** `applyConfig` sends the token with this one call and stores it nowhere. */
export async function applyConfig(request: ApplyRequest, token: string): Promise<ApplyAnswer> {
  const response = await post('/api/config/apply', request, { headers: { authorization: `Bearer ${token}` } })
  if (response.ok) return { kind: 'applied', applied: (await response.json()) as AppliedConfig }
  if (response.status === 422) return { kind: 'refused', checked: (await response.json()) as CheckedConfig }
  return { kind: 'failed', status: response.status, text: (await response.text()).trim().slice(0, 500) }
}

function post(
  path: string,
  body: object,
  { signal, headers }: { signal?: AbortSignal; headers?: Record<string, string> },
): Promise<Response> {
  const proof = sessionProof()
  return fetch(path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-portico-same-origin': '1',
      ...(proof !== null && { 'x-portico-session': proof }),
      ...headers,
    },
    body: JSON.stringify(body),
    ...(signal !== undefined && { signal }),
  })
}
