// The command line.
import { parseArgs } from 'node:util'

export const USAGE = `node bench/run.mjs [options]
  --quick              about two minutes instead of ten
  --only a,b           only these scenarios; last-rows is the comparison with compiled gateways
  --peers a,b          only these proxies
  --variant a,b        only the variants of scenarios whose name has one of these texts
  --seconds n          seconds of each fixed load
  --rounds n           rounds
  --portico program    another build of Portico
  --before program     an older build, measured beside it in the same rounds
  --profile scenario   only Portico, with the CPU profiler on; prints where the time goes
  --write              keep the result in bench/RESULTS.md`

const FULL = { seconds: 3, saturatedSeconds: 1, warmSeconds: 8, rounds: 3 }
const QUICK = { seconds: 1, saturatedSeconds: 1, warmSeconds: 3, rounds: 1 }

/** @returns the options, or `{ problem }` */
export function readOptions(args, known) {
  let values
  try {
    values = parseArgs({
      args,
      options: {
        quick: { type: 'boolean' },
        only: { type: 'string' },
        peers: { type: 'string' },
        variant: { type: 'string' },
        seconds: { type: 'string' },
        rounds: { type: 'string' },
        portico: { type: 'string' },
        before: { type: 'string' },
        profile: { type: 'string' },
        write: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    }).values
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
  const times = { ...(values.quick ? QUICK : FULL) }
  if (values.seconds !== undefined) times.seconds = times.saturatedSeconds = Number(values.seconds)
  if (values.rounds !== undefined) times.rounds = Number(values.rounds)
  if (!(times.seconds > 0) || !(times.rounds >= 1)) return { problem: '--seconds and --rounds take a positive number' }
  const groups = known.groups ?? {}
  const only = values.only?.split(',').flatMap((name) => groups[name] ?? [name]) ?? known.scenarios
  const named = values.peers?.split(',') ?? known.peers.filter((name) => name !== 'before')
  const peers = [...named, ...(values.before ? ['before'] : [])]
  const stranger =
    [...only, ...(values.profile ? [values.profile] : [])].find((name) => !known.scenarios.includes(name)) ??
    peers.find((name) => !known.peers.includes(name))
  if (stranger !== undefined) {
    return {
      problem: `unknown: ${stranger}\nscenarios: ${known.scenarios.join(', ')}\npeers: ${known.peers.join(', ')}`,
    }
  }
  return { ...values, only, peers, times }
}
