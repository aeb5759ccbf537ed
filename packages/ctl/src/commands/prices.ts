import { defineCommand } from '../command.ts'
import { exitCode } from '../io.ts'
import { printable } from '../printable.ts'

export const prices = defineCommand({
  name: 'prices',
  summary: 'show the prices of models, and which models have none',
  usage: '<check -f <file> | show <model> [-f <file>]> [options]',
  options: {
    file: { kind: 'value', short: 'f', value: '<file>', summary: 'a config file of a gateway', isPath: true },
    provider: {
      kind: 'value',
      value: '<name>',
      summary: 'only this provider, by its name in telemetry, such as openai; required by show without -f',
    },
    output: { kind: 'value', short: 'o', value: '<form>', summary: 'table (default), csv or json', fallback: 'table' },
  },
  notes: `\`check\` lists the models that the routes of a config can call, with their prices. \`show\` lists the price of one model:
at each provider of a config, or in the public prices that the gateway contains. The source is config, file, or the
bundled table with its version. Rates are US dollars for a million tokens; \`perCall\` is for a million calls.

Exit codes: 0 every model has a price, 1 the config is invalid, 2 bad usage, 3 a model has no price.

  porticoctl prices check -f gateway.yaml
  porticoctl prices show gpt-4o --provider openai
  porticoctl prices show gpt-4o -f gateway.yaml -o json
`,
  async run({ options, operands, afterDashes, io }) {
    const [action, model, extra] = [...operands, ...(afterDashes ?? [])]
    const problem = problemOf({ action, model, extra, ...options })
    if (problem !== null) {
      io.stderr.write(`porticoctl prices: ${printable(problem)}\n(porticoctl prices --help shows how)\n`)
      return exitCode.badUsage
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
}

function problemOf({ action, model, extra, file, provider, output }: PricesArguments): string | null {
  if (extra !== undefined) return `found ${JSON.stringify(extra)}, expected one model`
  if (!['table', 'csv', 'json'].includes(output)) {
    return `found output ${JSON.stringify(output)}, expected table, csv or json`
  }
  if (action === 'check') {
    if (model !== undefined) return `found ${JSON.stringify(model)}, and check takes no model`
    return file === null ? 'check needs -f: a config file' : null
  }
  if (action === 'show') {
    if (model === undefined) return 'show needs the name of a model'
    return file === null && provider === null ? 'show needs --provider, or -f with a config file' : null
  }
  return `found ${action === undefined ? 'no action' : JSON.stringify(action)}, expected check or show`
}
