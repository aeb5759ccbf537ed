import { request } from 'node:http'
import { type Ir } from '@portico/gateway/ir'
import type { AdminAddress } from '../trace/admin-address.ts'
import { connectionOf } from '../trace/connection-of.ts'
import { refusalProblem, unreachableProblem } from '../trace/problems.ts'

interface ConfigDump extends Ir {
  version: string
  generation: number
}

/** The largest response; thousands of routes take a few megabytes. */
const MOST_BYTES = 512 * 1024 * 1024
const ANSWER_WITHIN_MS = 30_000

/** Reads the running config of a gateway, which is redacted; returns the reason as a text when it fails. */
export async function readConfigDump(admin: AdminAddress, token: string | null): Promise<ConfigDump | string> {
  const answer = await ask(admin, token)
  if (typeof answer === 'string') return answer
  try {
    const dump = JSON.parse(answer.text) as ConfigDump
    if (Array.isArray(dump.routes) && Array.isArray(dump.policies)) return dump
  } catch {
    // The failure is reported below.
  }
  return `${admin.label} did not return a config: give the gateway's admin address with --admin`
}

function ask(admin: AdminAddress, token: string | null): Promise<{ text: string } | string> {
  return new Promise((resolve) => {
    const fail = async (error: NodeJS.ErrnoException) =>
      resolve((await admin.explain?.()) ?? unreachableProblem(admin, error))
    const call = request({
      ...connectionOf(admin),
      path: '/config_dump',
      headers: {
        ...('socketPath' in admin.connect ? { host: 'localhost' } : {}),
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    })
    call.on('error', (error: NodeJS.ErrnoException) => void fail(error))
    call.on('response', (response) => {
      const parts: Buffer[] = []
      let bytes = 0
      response.on('data', (part: Buffer) => {
        bytes += part.length
        if (bytes > MOST_BYTES) response.destroy(new Error('the config is too large'))
        else parts.push(part)
      })
      response.on('error', (error) => void fail(error))
      response.on('end', () => {
        const text = Buffer.concat(parts).toString('utf8')
        if (response.statusCode === 200) resolve({ text })
        else resolve(refusalProblem({ admin, token, response, text }).replace('/debug/trace', '/config_dump'))
      })
    })
    call.end()
  })
}
