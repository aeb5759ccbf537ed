import { adminOptions } from '../admin-options.ts'
import { defineCommand } from '../command.ts'
import { exitCode } from '../io.ts'
import { printable } from '../printable.ts'
import { planSource, tokenProblem } from '../trace/source.ts'

export const cache = defineCommand({
  name: 'cache',
  summary: 'show the response caches of a running gateway, or purge answers',
  usage: '<list | purge> [options]',
  options: {
    all: { kind: 'flag', summary: 'with purge: all answers of all caches' },
    cache: { kind: 'value', value: '<name>', summary: 'with purge: the answers of this cache, as list names it' },
    model: { kind: 'value', value: '<model>', summary: 'with purge: the answers of this model' },
    apiKey: { kind: 'value', value: '<name>', summary: 'with purge: the answers for this API key' },
    yes: { kind: 'flag', summary: 'with purge: purge, which cannot be undone' },
    output: { kind: 'value', short: 'o', value: '<form>', summary: 'table (default) or json', fallback: 'table' },
    ...adminOptions,
  },
  notes: `\`list\` adds up the caches of all workers; hits, misses and what was saved are those since the workers started.
\`purge\` removes answers from the memory of all workers and from Redis. Without --yes it only says what it would do.

Exit codes: 0 done, 1 the gateway did not do it, or not all of it, 2 bad usage.

  porticoctl cache list
  porticoctl cache purge --model gpt-5.5 --yes
`,
  async run({ options, operands, afterDashes, io }) {
    const { all, cache: name, model, apiKey, yes: isConfirmed, output, adminToken: token } = options
    const selection = {
      ...(all && { all: true as const }),
      ...(name !== null && { cache: name }),
      ...(model !== null && { model }),
      ...(apiKey !== null && { apiKey }),
    }
    const [action, extra] = [...operands, ...(afterDashes ?? [])]
    const source = planSource({ local: true, admin: options.admin, operands: [] })
    const problem =
      argumentProblem({ action, extra, selected: Object.keys(selection).length, isConfirmed, output }) ??
      (source.ok ? tokenProblem(token) : source.problem)
    if (!source.ok || source.value.kind !== 'local' || problem !== null) {
      io.stderr.write(`porticoctl cache: ${printable(problem ?? '')}\n(porticoctl cache --help shows how)\n`)
      return exitCode.badUsage
    }
    const { listCaches, purgeCaches } = await import('../cache/caches.ts')
    const how = { admin: source.value.admin, token, isJson: output === 'json' }
    return action === 'list' ? listCaches(how, io) : purgeCaches({ ...how, selection, isConfirmed }, io)
  },
})

interface CacheArguments {
  readonly action: string | undefined
  readonly extra: string | undefined
  /** The number of options that say what to purge. */
  readonly selected: number
  readonly isConfirmed: boolean
  readonly output: string
}

function argumentProblem({ action, extra, selected, isConfirmed, output }: CacheArguments): string | null {
  if (action !== 'list' && action !== 'purge') return `found ${action ?? 'nothing'}, expected list or purge`
  if (extra !== undefined) return `found ${JSON.stringify(extra)}, expected only options`
  if (output !== 'table' && output !== 'json') return `found output ${JSON.stringify(output)}, expected table or json`
  if (action === 'list') return selected === 0 && !isConfirmed ? null : 'list takes no answers to purge'
  return selected === 1 ? null : 'purge needs one of --all, --cache, --model and --api-key'
}
