import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { CheckedConfig, ConfigView } from '../admin/config-view.ts'
import { type Program, type RunOptions, useConfigFile, useProgram } from './process.ts'

/** A program whose config can be changed through its admin server, and the calls that do it. */

export const TOKEN = 'open-sesame'

export function configText({ body = 'first', edit = true, more = '' } = {}): string {
  return `config: { workers: 1${edit ? ', ui: { edit: true }' : ''} }
binds:
- port: 0
  address: 127.0.0.1
  listeners:
  - name: web
    routes:
    - name: page
      policies: { directResponse: { status: 200, body: ${body} } }
    - name: limited
      matches: [{ path: { pathPrefix: /limited } }]
      policies:
        rateLimit: { local: [{ requests: 5, unit: Hours }] }
        directResponse: { status: 200, body: limited }
    - name: chat
      matches: [{ path: { pathPrefix: /v1 } }]
      backends:
      - ai: { provider: { openai: {} } }
        policies: { auth: { key: sk-very-secret } }
${more}`
}

export async function useEditable(t: TestContext, text: object | string = configText(), options: RunOptions = {}) {
  const config = useConfigFile(t, text)
  const env = { ADMIN_TOKEN: TOKEN, ...options.env }
  return { config, program: await useProgram(t, { ...options, args: ['-f', config.file], env }) }
}

export const HEADERS = { 'content-type': 'application/json', 'x-portico-same-origin': '1' }

export function call(program: Program, path: string, init: RequestInit = {}, token = TOKEN): Promise<Response> {
  return fetch(program.admin + path, { ...init, headers: { ...HEADERS, authorization: `Bearer ${token}` } })
}

export async function json<T>(program: Program, path: string): Promise<T> {
  return (await (await call(program, path)).json()) as T
}

export function view(program: Program): Promise<ConfigView> {
  return json<ConfigView>(program, '/api/config')
}

export async function check(program: Program, text: string | null): Promise<CheckedConfig> {
  const answer = await call(program, '/api/config/check', { method: 'POST', body: JSON.stringify({ text }) })
  assert.equal(answer.status, 200)
  return (await answer.json()) as CheckedConfig
}

export function apply(
  program: Program,
  edit: { text: string | null; basedOn: string; generation?: number },
  token?: string,
): Promise<Response> {
  return call(program, '/api/config/apply', { method: 'POST', body: JSON.stringify(edit) }, token)
}
