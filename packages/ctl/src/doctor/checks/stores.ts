import { accessSync, constants, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { ConnectionOptions } from 'node:tls'
import { type DoctorCheck, type DoctorFinding, type DoctorSubject, fine } from '../check.ts'
import { type ConnectResult, openConnection } from '../connect.ts'
import { unreachable } from '../connection-finding.ts'

/** Checks that the gateway can use Redis, PostgreSQL and the state folder. */
export const stores: DoctorCheck = {
  name: 'stores',
  summary: 'Redis, PostgreSQL and the state folder can be used',
  async run(subject) {
    const { stateDir, stores: servers } = subject.config.process
    const checks = [
      stateDir === undefined ? [] : [Promise.resolve(folderFinding(resolve(subject.dir, stateDir)))],
      servers?.redis === undefined ? [] : [redisFinding(servers.redis, subject)],
      servers?.postgres === undefined ? [] : [postgresFinding(servers.postgres, subject)],
    ]
    return Promise.all(checks.flat())
  },
}

function folderFinding(folder: string): DoctorFinding {
  const about = `state folder ${folder}`
  try {
    const existing = nearestExisting(folder)
    accessSync(existing, constants.W_OK)
    return fine(about, existing === folder ? 'can be written' : 'can be created')
  } catch {
    const why = 'The gateway does not start without it.'
    return {
      status: 'problem',
      about,
      finding: 'cannot be written',
      why,
      fix: 'Give the user of the gateway the right to write it.',
    }
  }
}

function nearestExisting(folder: string): string {
  try {
    statSync(folder)
    return folder
  } catch (error) {
    const parent = dirname(folder)
    if (parent === folder) throw error
    return nearestExisting(parent)
  }
}

type Stores = NonNullable<DoctorSubject['config']['process']['stores']>

async function redisFinding(redis: NonNullable<Stores['redis']>, { timeoutMs }: DoctorSubject): Promise<DoctorFinding> {
  const { host, port, isTls } = redis.url
  const about = `Redis ${host}:${port}`
  const opened = await openConnection({ host, port, path: null, tls: isTls ? tlsFor(host, redis.ca) : null }, timeoutMs)
  if (opened.kind === 'failed') return unreachable(about, opened)
  const { username = '', password = '' } = redis
  const auth = password === '' ? '' : commandOf(['AUTH', ...(username === '' ? [] : [username]), password])
  const said = await reply(opened, `${auth}${commandOf(['PING'])}`, timeoutMs)
  if (said.includes('+PONG')) return fine(about, 'answers')
  const isRefused = /^-(NOAUTH|WRONGPASS|ERR AUTH|NOPERM)/m.test(said)
  return {
    ...{
      status: 'problem',
      about,
      finding: isRefused ? 'refuses the user or the password' : 'does not answer as Redis',
    },
    why: 'Shared budgets and caches fail.',
    fix: isRefused
      ? 'Correct `username` and `password`.'
      : 'Check that the address is that of Redis or Valkey, and whether it needs TLS.',
  }
}

async function postgresFinding(
  { url: { host, port } }: NonNullable<Stores['postgres']>,
  { timeoutMs }: DoctorSubject,
): Promise<DoctorFinding> {
  const about = `PostgreSQL ${host}:${port}`
  const opened = await openConnection({ host, port, path: null, tls: null }, timeoutMs)
  if (opened.kind === 'failed') return unreachable(about, opened)
  const said = await reply(opened, SSL_REQUEST, timeoutMs)
  if (said === 'S') return fine(about, 'answers, and has TLS; the password is not tried')
  if (said === 'N') return fine(about, 'answers, without TLS; the password is not tried')
  const why = 'Keys and the ledger cannot be read or written.'
  return { status: 'problem', about, finding: 'does not answer as PostgreSQL', why, fix: 'Correct `url`.' }
}

/** Sends bytes and returns the first bytes of the reply as a string; empty when there is no reply. */
function reply({ socket }: Extract<ConnectResult, { kind: 'open' }>, bytes: string | Buffer, timeoutMs: number) {
  return new Promise<string>((resolve) => {
    let text = ''
    const end = (): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(text)
    }
    const timer = setTimeout(end, timeoutMs)
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      if (typeof bytes !== 'string' || /\+PONG|^-/m.test(text)) end()
    })
    socket.once('close', end)
    socket.write(bytes)
  })
}

function tlsFor(host: string, ca: string | undefined): ConnectionOptions {
  return { servername: host, ...(ca !== undefined && { ca }) }
}

function commandOf(words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`
}

/** The SSLRequest message, with which a PostgreSQL client asks for TLS. */
const SSL_REQUEST = Buffer.from('0000000804d2162f', 'hex')
