import { adminOptions } from '../admin-options.ts'
import { defineCommand } from '../command.ts'
import { exitCode } from '../io.ts'
import { fieldOptions } from '../keys/field-options.ts'
import { actionProblem } from '../keys/action-problem.ts'
import { printable } from '../printable.ts'
import { planSource, tokenProblem } from '../trace/source.ts'

export const keys = defineCommand({
  name: 'keys',
  summary: 'create, change, rotate and revoke API keys of a running gateway, or of a file',
  usage: '<action> [name] [options]',
  options: {
    file: { kind: 'value', short: 'f', value: '<file>', summary: 'change a file of keys, not a gateway', isPath: true },
    team: { kind: 'value', value: '<team>', summary: 'the team, `apiKey.team` in expressions' },
    owner: { kind: 'value', value: '<owner>', summary: 'the owner, `apiKey.owner` in expressions' },
    expires: { kind: 'value', value: '<time>', summary: 'when the key ends, such as 90d or 2027-01-31T00:00:00Z' },
    models: { kind: 'value', value: '<names>', summary: 'models that the key may use: gpt-5.5,claude-*' },
    routes: { kind: 'value', value: '<names>', summary: 'routes that the key may use' },
    ...fieldOptions,
    overlap: {
      kind: 'value',
      value: '<time>',
      summary: 'with rotate: how long the old key stays valid (default 24h)',
      fallback: '24h',
    },
    output: { kind: 'value', short: 'o', value: '<form>', summary: 'text (default) or json', fallback: 'text' },
    ...adminOptions,
  },
  notes: `Actions: create, change, list, rotate, enable, disable, revoke and delete. They change the keys of a running gateway with
\`config.keys\`, for its next request. A new key is printed once, on standard output; gateways keep its hash.

With -f, the actions create, list, rotate, enable, disable and revoke change the file of
\`apiKeyAuthentication.secretRef.file\`, with --team, --owner, --expires and --overlap. Gateways read the file again when it
changes.

Exit codes: 0 done, 1 the gateway, the file or the key is not as expected, 2 bad usage.

  porticoctl keys create support-bot --budgets 5usd/day --models 'gpt-5*'
  porticoctl keys change support-bot --team support --clear models
  porticoctl keys rotate support-bot --overlap 1h
  porticoctl keys create support-bot -f keys.json --team support --expires 90d
`,
  async run({ options, operands, afterDashes, io }) {
    const { file, output, adminToken: token } = options
    const source = planSource({ local: true, admin: options.admin, operands: [] })
    const known = file === null ? STORE_ACTIONS : FILE_ACTIONS
    const given = [...operands, ...(afterDashes ?? [])]
    const problem =
      (file === '' ? '-f needs the file of keys' : actionProblem({ given, known, what: 'key', output })) ??
      (file === null ? tokenProblem(token) : storeOptionProblem(options))
    const [action, name = ''] = given
    if (action === undefined || problem !== null || !source.ok || source.value.kind !== 'local') {
      const text = problem ?? (source.ok ? '' : source.problem)
      io.stderr.write(`porticoctl keys: ${printable(text)}\n(porticoctl keys --help shows how)\n`)
      return exitCode.badUsage
    }
    const change = { ...options, action, name, isJson: output === 'json', now: Date.now() }
    if (file !== null) return (await import('../keys/change-keys.ts')).changeKeys({ ...change, file }, io)
    const { changeStored } = await import('../keys/change-stored.ts')
    const flags = { ...options, parent: null }
    return changeStored({ ...change, kind: 'keys', flags, admin: source.value.admin, token }, io)
  },
})

function storeOptionProblem(options: Readonly<Record<string, unknown>>): string | null {
  const found = ['models', 'routes', 'budgets', 'limits', 'clear'].find((name) => options[name] !== null)
  return found === undefined ? null : `--${found} is for the keys of a gateway: leave it out, or -f`
}

const FILE_ACTIONS = ['create', 'list', 'rotate', 'revoke', 'disable', 'enable']
const STORE_ACTIONS = [...FILE_ACTIONS, 'change', 'delete']
