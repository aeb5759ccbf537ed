import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Credentials } from './connection.ts'

const execute = promisify(execFile)

/** A credential plugin of a kubeconfig (`exec`). */
export interface ExecPlugin {
  apiVersion?: string
  command: string
  args?: readonly string[]
  env?: readonly { name: string; value: string }[]
  installHint?: string
}

interface PluginAnswer {
  credentials: Credentials
  /** The expiry, in milliseconds since 1970. */
  until: number
}

/**
 * Runs the plugin without a terminal. Error messages may quote its standard error, never its standard output, which has
 * the credentials.
 */
export async function askPlugin(
  { apiVersion = 'client.authentication.k8s.io/v1', command, args = [], env = [], installHint }: ExecPlugin,
  folder: string,
  inherited: Readonly<Record<string, string | undefined>>,
): Promise<PluginAnswer> {
  const info = { apiVersion, kind: 'ExecCredential', spec: { interactive: false } }
  const own = Object.fromEntries(env.map(({ name, value }) => [name, value]))
  const program = command.includes('/') ? resolve(folder, command) : command
  let stdout: string
  try {
    const variables = { ...inherited, ...own, KUBERNETES_EXEC_INFO: JSON.stringify(info) }
    ;({ stdout } = await execute(program, args, { env: variables, timeout: LIMIT_MS, maxBuffer: MOST_BYTES }))
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: string }
    const hint = code === 'ENOENT' ? (installHint ?? 'no such program') : (stderr ?? '').trim().slice(0, 500)
    throw new Error(`the credential plugin ${command} failed: ${hint || String(code)}`, { cause: error })
  }
  return readAnswer(command, stdout)
}

const LIMIT_MS = 60_000
const MOST_BYTES = 1024 * 1024
/** The lifetime of credentials without an expiry. */
const STALE_AFTER_MS = 300_000

function readAnswer(command: string, text: string): PluginAnswer {
  let status: Status | undefined
  try {
    status = (JSON.parse(text) as { status?: Status }).status
  } catch {
    throw new Error(`the credential plugin ${command} printed no JSON`)
  }
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status ?? {}
  const credentials: Credentials = {}
  if (token !== undefined) credentials.authorization = `Bearer ${token}`
  if (cert !== undefined && key !== undefined) Object.assign(credentials, { cert, key })
  if (Object.keys(credentials).length === 0) throw new Error(`the credential plugin ${command} returned no credentials`)
  return { credentials, until: Date.parse(expirationTimestamp ?? '') || Date.now() + STALE_AFTER_MS }
}

interface Status {
  token?: string
  clientCertificateData?: string
  clientKeyData?: string
  expirationTimestamp?: string
}
