import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { parse } from 'yaml'
import type { Connection, Credentials } from './connection.ts'
import { proxyFor } from './proxy.ts'
import { askPlugin, type ExecPlugin } from './exec-plugin.ts'

export interface KubeconfigOptions {
  /** The file to read in place of KUBECONFIG and `~/.kube/config`. */
  file?: string
  /** The context to use in place of the current one. */
  context?: string
  env?: Readonly<Record<string, string | undefined>>
}

export interface Kubeconfig extends Connection {
  context: string
  /** The namespace of the context; undefined when it has none. */
  namespace: string | undefined
}

interface Cluster {
  server?: string
  'certificate-authority'?: string
  'certificate-authority-data'?: string
  'insecure-skip-tls-verify'?: boolean
  'tls-server-name'?: string
  'proxy-url'?: string
}

interface User {
  token?: string
  tokenFile?: string
  username?: string
  password?: string
  'client-certificate'?: string
  'client-certificate-data'?: string
  'client-key'?: string
  'client-key-data'?: string
  exec?: ExecPlugin
  'auth-provider'?: unknown
}

interface Context {
  cluster?: string
  user?: string
  namespace?: string
}

/** An entry, and the folder that its relative paths start from. */
interface KubeconfigEntry<T> {
  value: T
  folder: string
}

/** No kubeconfig file exists. */
export class NoKubeconfig extends Error {
  override readonly name = 'NoKubeconfig'
}

/** Returns the connection that kubectl would use. Errors name the file or the entry. */
export function readKubeconfig({ file, context, env = process.env }: KubeconfigOptions = {}): Kubeconfig {
  const files = filesOf(file, env).map(readConfig)
  const name = context ?? files.map(({ value }) => value['current-context']).find((one) => one)
  if (name === undefined) throw new Error('the kubeconfig has no current context: name one with --context')
  const { value: chosen } = entry<Context>(files, 'contexts', 'context', name)
  const cluster = entry<Cluster>(files, 'clusters', 'cluster', chosen.cluster ?? '')
  const user = chosen.user ? entry<User>(files, 'users', 'user', chosen.user) : { value: {}, folder: '.' }
  const { server } = cluster.value
  if (server === undefined) throw new Error(`cluster "${chosen.cluster}" of the kubeconfig has no server`)
  if (user.value['auth-provider'] !== undefined) {
    throw new Error(`user "${chosen.user}" of the kubeconfig has an auth-provider, which is not supported: use exec`)
  }
  const proxy = proxyFor(server, cluster.value['proxy-url'], env)
  const { namespace } = chosen
  return { server, proxy, context: name, namespace, credentials: credentialsOf(cluster, user, env) }
}

type ConfigFile = Readonly<Record<string, unknown>> & { 'current-context'?: string }

/** The files to merge, as in kubectl: for each entry the first file wins. */
function filesOf(file: string | undefined, env: Readonly<Record<string, string | undefined>>): string[] {
  if (file !== undefined) return [file]
  const named = (env['KUBECONFIG'] ?? '').split(delimiter).filter((one) => one !== '')
  const files = named.length > 0 ? named : [join(env['HOME'] ?? homedir(), '.kube', 'config')]
  const there = files.filter((one) => existsSync(one))
  if (there.length === 0) throw new NoKubeconfig(`there is no kubeconfig: ${files.join(', ')}`)
  return there
}

function readConfig(file: string): KubeconfigEntry<ConfigFile> {
  let value: unknown
  try {
    value = parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new Error(`kubeconfig ${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
  if (typeof value !== 'object' || value === null) throw new Error(`kubeconfig ${file} is not a mapping`)
  return { value: value as ConfigFile, folder: dirname(resolve(file)) }
}

function entry<T extends object>(
  files: readonly KubeconfigEntry<ConfigFile>[],
  list: string,
  field: string,
  name: string,
): KubeconfigEntry<T> {
  for (const { value, folder } of files) {
    const entries = value[list]
    const found: unknown = Array.isArray(entries)
      ? entries.find((one: { name?: unknown } | null) => one?.name === name)
      : undefined
    if (found !== undefined) return { value: ((found as Record<string, unknown>)[field] ?? {}) as T, folder }
  }
  throw new Error(`the kubeconfig has no ${field} "${name}"`)
}

function credentialsOf(
  cluster: KubeconfigEntry<Cluster>,
  user: KubeconfigEntry<User>,
  env: Readonly<Record<string, string | undefined>>,
): Connection['credentials'] {
  const server = {
    ...(cluster.value['insecure-skip-tls-verify'] === true && { insecure: true }),
    ...(cluster.value['tls-server-name'] !== undefined && { serverName: cluster.value['tls-server-name'] }),
  }
  let known: { credentials: Promise<Credentials>; until: number } | undefined
  const read = async (): Promise<{ credentials: Credentials; until: number }> => {
    const { exec } = user.value
    const plugin = exec === undefined ? undefined : await askPlugin(exec, user.folder, env)
    const [ca, cert, key, token] = await Promise.all([
      content(cluster, 'certificate-authority'),
      content(user, 'client-certificate'),
      content(user, 'client-key'),
      tokenOf(user),
    ])
    const all: Credentials = { ...server }
    if (ca !== undefined) all.ca = ca
    if (cert !== undefined && key !== undefined) Object.assign(all, { cert, key })
    if (token !== undefined) all.authorization = token
    return { credentials: { ...all, ...plugin?.credentials }, until: plugin?.until ?? Date.now() + STALE_AFTER_MS }
  }
  return (fresh) => {
    if (known === undefined || fresh || Date.now() > known.until) {
      const reading = read()
      const entry = { credentials: reading.then(({ credentials }) => credentials), until: Infinity }
      known = entry
      reading.then(
        ({ until }) => (entry.until = until),
        () => (known = undefined),
      )
    }
    return known.credentials
  }
}

const STALE_AFTER_MS = 60_000

/** The content of the `-data` field, or of the file that the other field names. */
async function content<K extends string>(
  { value, folder }: KubeconfigEntry<{ readonly [P in K | `${K}-data`]?: string }>,
  field: K,
): Promise<string | undefined> {
  const inline: string | undefined = value[`${field}-data`]
  if (inline !== undefined) return Buffer.from(inline, 'base64').toString('utf8')
  const file: string | undefined = value[field]
  return file === undefined ? undefined : readFile(resolve(folder, file), 'utf8')
}

async function tokenOf({ value, folder }: KubeconfigEntry<User>): Promise<string | undefined> {
  const { token, tokenFile, username, password } = value
  if (tokenFile !== undefined) return `Bearer ${(await readFile(resolve(folder, tokenFile), 'utf8')).trim()}`
  if (token !== undefined) return `Bearer ${token}`
  if (username === undefined) return undefined
  return `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}`
}
