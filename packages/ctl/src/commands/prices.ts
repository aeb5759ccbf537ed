import { adminOptions } from '../admin-options.ts'
import { defineCommand } from '../command.ts'
import { exitCode } from '../io.ts'
import { readAmounts } from '../prices/read-amounts.ts'
import { printable } from '../printable.ts'
import { planSource, tokenProblem } from '../trace/source.ts'

export const prices = defineCommand({
  name: 'prices',
  summary: 'show the prices of models, and change those of a running gateway',
  usage: '<check -f <file> | show <model> [-f <file>] | list | set <model> | remove <model>> [options]',
  options: {
    file: { kind: 'value', short: 'f', value: '<file>', summary: 'a config file of a gateway', isPath: true },
    provider: {
      kind: 'value',
      value: '<name>',
      summary: 'only this provider, by its name in telemetry, such as openai; required by show without -f',
    },
    rates: {
      kind: 'value',
      value: '<class=usd,…>',
      summary: 'set: US dollars for a million tokens, such as input=2.5,cacheRead=1.25,output=10',
    },
    units: { kind: 'value', value: '<unit=usd,…>', summary: 'set: US dollars for one unit, such as image=0.04' },
    perCall: { kind: 'value', value: '<usd>', summary: 'set: US dollars for a million calls' },
    output: { kind: 'value', short: 'o', value: '<form>', summary: 'table (default), csv or json', fallback: 'table' },
    ...adminOptions,
  },
  notes: `\`check\` lists the models that the routes of a config can call, with their prices. \`show\` lists the price of one model:
at each provider of a config, or in the public prices that the gateway contains. The source is config, file, or the
bundled table with its version. Rates are US dollars for a million tokens; \`perCall\` is for a million calls.

\`list\`, \`set\` and \`remove\` are about the prices in the store of a running gateway, which needs \`config.keys\`. They take
precedence over all others, and hold for the next call. A final \`*\` of a model matches any characters.

Exit codes: 0 done, every model has a price, 1 the config is invalid or the gateway refuses, 2 bad usage, 3 a model has no price.

  porticoctl prices check -f gateway.yaml
  porticoctl prices show gpt-4o --provider openai
  porticoctl prices show gpt-4o -f gateway.yaml -o json
  porticoctl prices set gpt-4o --provider openai --rates input=2.5,cacheRead=1.25,output=10
  porticoctl prices remove gpt-4o --provider openai
`,
  async run({ options, operands, afterDashes, io }) {
    const [action, model, extra] = [...operands, ...(afterDashes ?? [])]
    const source = planSource({ local: true, admin: options.admin, operands: [] })
    const amounts = readAmounts(options)
    const problem =
      problemOf({ action, model, extra, ...options }) ??
      (typeof amounts === 'string' ? amounts : tokenProblem(options.adminToken)) ??
      (source.ok ? null : source.problem)
    if (problem !== null) {
      io.stderr.write(`porticoctl prices: ${printable(problem)}\n(porticoctl prices --help shows how)\n`)
      return exitCode.badUsage
    }
    if (isStored(action) && source.ok && source.value.kind === 'local' && typeof amounts !== 'string') {
      const { changePrices } = await import('../prices/stored-prices.ts')
      const to = { admin: source.value.admin, token: options.adminToken }
      return changePrices({ ...options, ...to, action, model: model ?? '', fields: amounts }, io)
    }
    // The table of prices is large.
    const { showPrices } = await import('../prices/show-prices.ts')
    return showPrices({ ...options, model: model ?? null, now: Date.now() }, io)
  },
})

interface PricesArguments {
  readonly action: string | undefined
  readonly model: string | undefined
  readonly extra: string | undefined
  readonly file: string | null
  readonly provider: string | null
  readonly output: string
  readonly rates: string | null
  readonly units: string | null
  readonly perCall: string | null
}

function problemOf({ action, model, extra, file, provider, output, ...amounts }: PricesArguments): string | null {
  if (extra !== undefined) return `found ${JSON.stringify(extra)}, expected one model`
  if (!['table', 'csv', 'json'].includes(output)) {
    return `found output ${JSON.stringify(output)}, expected table, csv or json`
  }
  const { rates, units, perCall } = amounts
  const hasAmounts = rates !== null || units !== null || perCall !== null
  if (action !== 'set' && hasAmounts) return 'only set takes --rates, --units and --per-call'
  if (isStored(action)) {
    if (file !== null) return `${action} is about a running gateway, and takes no -f`
    if (action === 'list') return model === undefined ? null : 'list takes no model'
    if (model === undefined) return `${action} needs the name of a model`
    return action === 'set' && !hasAmounts ? 'set needs --rates, --units or --per-call' : null
  }
  if (action === 'check') {
    if (model !== undefined) return `found ${JSON.stringify(model)}, and check takes no model`
    return file === null ? 'check needs -f: a config file' : null
  }
  if (action === 'show') {
    if (model === undefined) return 'show needs the name of a model'
    return file === null && provider === null ? 'show needs --provider, or -f with a config file' : null
  }
  return `found ${action === undefined ? 'no action' : JSON.stringify(action)}, expected check, show, list, set or remove`
}

function isStored(action: string | undefined): action is 'list' | 'set' | 'remove' {
  return action === 'list' || action === 'set' || action === 'remove'
}
