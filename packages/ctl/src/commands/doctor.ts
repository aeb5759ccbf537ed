import { defineCommand } from '../command.ts'
import { exitCode, type Io } from '../io.ts'
import { printable } from '../printable.ts'

const NAMES = [
  ...['ports', 'file-limits', 'clock', 'dns', 'certificates', 'backends', 'providers', 'stores', 'collectors'],
]

export const doctor = defineCommand({
  name: 'doctor',
  summary: 'find what is wrong around a config: ports, DNS, certificates, backends, keys of models, stores',
  usage: '(-f <config> | mcp <url>) [options]',
  options: {
    file: { kind: 'value', short: 'f', value: '<file>', summary: 'the config of the gateway', isPath: true },
    only: { kind: 'value', value: '<checks>', summary: 'only these checks: dns,backends' },
    all: { kind: 'flag', summary: 'print what is fine, too' },
    spendTokens: { kind: 'flag', summary: 'ask each model of the config for one token, which costs money' },
    timeFrom: { kind: 'value', value: '<url>', summary: 'a server whose clock is right' },
    timeout: {
      kind: 'value',
      value: '<seconds>',
      summary: 'the longest time for a connection (default 5)',
      fallback: '5',
    },
    output: { kind: 'value', short: 'o', value: '<form>', summary: 'text (default) or json', fallback: 'text' },
  },
  notes: `Run it on the machine of the gateway, as its user and with its environment: it reads the config as the gateway does,
connects to what the config names, and lists the models of providers with their keys. It changes nothing, sends no
request to backends, and prints no secrets.

Checks: ${NAMES.join(', ')}.

With \`mcp <url>\` it plays how Claude, Cursor, VS Code, Copilot and the MCP SDKs find out how to sign in at an MCP server,
and prints the first step of each that fails. Nothing is registered, and no token is asked for.

Exit codes: 0 no problem, 1 a problem, 2 bad usage.

  porticoctl doctor -f gateway.yaml
  porticoctl doctor -f gateway.yaml --only providers --spend-tokens
  porticoctl doctor mcp https://mcp.example.com/mcp
`,
  async run({ options, operands, afterDashes, io }) {
    const { file, only, all, spendTokens, timeFrom, timeout, output } = options
    const given = [...operands, ...(afterDashes ?? [])]
    if (given[0] === 'mcp') return runMcp(given.slice(1), { file, timeout, output }, io)
    const [extra] = given
    const names = only?.split(',') ?? null
    const problem =
      extra === undefined
        ? problemOf({ file, names, timeout, output, timeFrom })
        : `found ${JSON.stringify(extra)}, expected only options`
    if (problem !== null || file === null) {
      io.stderr.write(`porticoctl doctor: ${printable(problem ?? '')}\n(porticoctl doctor --help shows how)\n`)
      return exitCode.badUsage
    }
    const { runDoctor } = await import('../doctor/run-doctor.ts')
    return runDoctor(
      {
        ...{ file, only: names, timeoutMs: Number(timeout) * 1000, spendsTokens: spendTokens },
        ...{ timeFrom, isJson: output === 'json', printsAll: all },
      },
      io,
    )
  },
})

async function runMcp(
  [url = '', ...extra]: readonly string[],
  { file, timeout, output }: Pick<DoctorArguments, 'file' | 'timeout' | 'output'>,
  io: Io,
): Promise<number> {
  const isUrl = /^https?:$/.test(URL.parse(url)?.protocol ?? '') && extra.length === 0
  const problem = !isUrl
    ? 'mcp takes the URL of one MCP server, such as https://mcp.example.com/mcp'
    : file !== null
      ? 'mcp takes no config'
      : problemOf({ file: 'none', names: null, timeout, output, timeFrom: null })
  if (problem !== null) {
    io.stderr.write(`porticoctl doctor: ${printable(problem)}\n(porticoctl doctor --help shows how)\n`)
    return exitCode.badUsage
  }
  const { runMcpDoctor } = await import('../doctor/mcp/run-mcp-doctor.ts')
  return runMcpDoctor({ url, timeoutMs: Number(timeout) * 1000, isJson: output === 'json' }, io)
}

interface DoctorArguments {
  readonly file: string | null
  readonly names: readonly string[] | null
  readonly timeout: string
  readonly output: string
  readonly timeFrom: string | null
}

function problemOf({ file, names, timeout, output, timeFrom }: DoctorArguments): string | null {
  if (file === null || file === '') return '-f names the config of the gateway'
  const unknown = names?.find((name) => !NAMES.includes(name))
  if (unknown !== undefined) return `found check ${JSON.stringify(unknown)}, expected ${NAMES.join(', ')}`
  if (!/^\d{1,3}$/.test(timeout) || Number(timeout) === 0)
    return `found --timeout ${timeout}, expected 1 to 999 seconds`
  if (timeFrom !== null && !/^https?:/.test(URL.parse(timeFrom)?.protocol ?? ''))
    return 'expected --time-from with an http URL'
  return output === 'text' || output === 'json' ? null : `found output ${JSON.stringify(output)}, expected text or json`
}
