import { exitCode, type Io } from '../../io.ts'
import { printable } from '../../printable.ts'
import { mcpClients } from './clients.ts'
import { type ClientVerdict, discover } from './discover.ts'
import { McpProbe } from './probe.ts'

interface McpDoctorRun {
  readonly url: string
  readonly timeoutMs: number
  readonly isJson: boolean
}

/**
 * Repeats the discovery of each MCP client at a server, and prints each client's first step that fails; returns the
 * exit code.
 */
export async function runMcpDoctor({ url, timeoutMs, isJson }: McpDoctorRun, io: Io): Promise<number> {
  const probe = new McpProbe(timeoutMs)
  const verdicts: ClientVerdict[] = []
  for (const client of mcpClients) verdicts.push(await discover(client, url, probe))
  io.stdout.write(isJson ? `${JSON.stringify({ url, clients: verdicts }, null, 2)}\n` : plainText(verdicts))
  return verdicts.some(({ verdict }) => verdict === 'fails') ? exitCode.failed : exitCode.fine
}

function plainText(verdicts: readonly ClientVerdict[]): string {
  const lines = verdicts.flatMap(({ title, verdict, note, failed }) => {
    if (failed === null) {
      const said = verdict === 'open' ? 'connects without signing in' : 'can sign in'
      return [`${title}: ${said}`, ...(note === '' ? [] : [`    ${note}`])]
    }
    const { step, sent, came, change } = failed
    return [`${title}: fails at the step ${step}`, `    sent: ${sent}`, `    came: ${came}`, `    change: ${change}`]
  })
  return `${lines.map(printable).join('\n')}\n`
}
