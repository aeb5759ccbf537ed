import { defineCommand } from '../command.ts'
import { exitCode } from '../io.ts'
import { printable } from '../printable.ts'

export const keys = defineCommand({
  name: 'keys',
  summary: 'create, rotate and revoke API keys in a file that gateways read',
  usage: '<create | list | rotate | revoke | disable | enable> [name] -f <file> [options]',
  options: {
    file: { kind: 'value', short: 'f', value: '<file>', summary: 'the file of keys (required)', isPath: true },
    team: { kind: 'value', value: '<team>', summary: 'with create: the team, `apiKey.team` in expressions' },
    owner: { kind: 'value', value: '<owner>', summary: 'with create: the owner, `apiKey.owner` in expressions' },
    expires: {
      kind: 'value',
      value: '<time>',
      summary: 'with create: when the key ends, such as 90d or 2027-01-31T00:00:00Z',
    },
    overlap: {
      kind: 'value',
      value: '<time>',
      summary: 'with rotate: how long the old key stays valid (default 24h)',
      fallback: '24h',
    },
    output: { kind: 'value', short: 'o', value: '<form>', summary: 'text (default) or json', fallback: 'text' },
  },
  notes: `The file is the one of \`apiKeyAuthentication.secretRef.file\`. It contains hashes, never a key: a new key is
printed once, on standard output. Gateways read the file again when it changes.

Exit codes: 0 done, 1 the file or the key is not as expected, 2 bad usage.

  porticoctl keys create support-bot -f keys.json --team support --expires 90d
  porticoctl keys rotate support-bot -f keys.json --overlap 1h
  porticoctl keys revoke support-bot -f keys.json
  porticoctl keys list -f keys.json -o json
`,
  async run({ options, operands, afterDashes, io }) {
    const [action, name, extra] = [...operands, ...(afterDashes ?? [])]
    const { file, output } = options
    const problem = problemOf({ action, name, extra, file, output })
    if (file === null || action === undefined || problem !== null) {
      io.stderr.write(`porticoctl keys: ${printable(problem ?? '')}\n(porticoctl keys --help shows how)\n`)
      return exitCode.badUsage
    }
    const { changeKeys } = await import('../keys/change-keys.ts')
    return changeKeys({ ...options, action, name: name ?? '', file, isJson: output === 'json', now: Date.now() }, io)
  },
})

const ACTIONS = ['create', 'list', 'rotate', 'revoke', 'disable', 'enable']

interface KeysArguments {
  action: string | undefined
  name: string | undefined
  extra: string | undefined
  file: string | null
  output: string
}

function problemOf({ action, name, extra, file, output }: KeysArguments): string | null {
  if (action === undefined || !ACTIONS.includes(action)) {
    const found = action === undefined ? 'no action' : JSON.stringify(action)
    return `found ${found}, expected one of ${ACTIONS.join(', ')}`
  }
  if (file === null || file === '') return '-f is required: the file of keys'
  if (extra !== undefined) return `found ${JSON.stringify(extra)}, expected one name`
  if (action === 'list') return name === undefined ? outputProblem(output) : 'list takes no name'
  if (name === undefined || !/^[A-Za-z0-9][\w.-]{0,62}$/.test(name)) {
    return `${action} needs the name of a key: up to 63 letters, digits, dots, dashes and underscores`
  }
  return outputProblem(output)
}

function outputProblem(output: string): string | null {
  return ['text', 'json'].includes(output) ? null : `found output ${JSON.stringify(output)}, expected text or json`
}
