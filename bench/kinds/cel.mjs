// Measures the expression language alone, in this process: generated code beside handwritten closures.
import { compile } from '@portico/cel'
import { CONTEXTS, environment, expressions, makeScopes } from './cel-expressions.mjs'

const MOST_AGAINST_HAND = 1.3
const MOST_AGAINST_SUCCESS = 10
/** The expression that is also measured without a token. */
const NEEDS_JWT = 'sub && in'

const EVALUATIONS = 400_000

/** @returns the table and the bars, as Markdown */
export function measureCel({ rounds }) {
  const [scopes, anonymous] = [makeScopes({ withJwt: true }), makeScopes({ withJwt: false })]
  const rows = expressions.map(({ name, source, byHand }) => {
    const { program } = compile(source, environment)
    return { name, source, program, byHand: { evaluate: byHand }, generated: Infinity, hand: Infinity }
  })
  const withoutJwt = rows.find(({ name }) => name === NEEDS_JWT)
  let missing = Infinity
  // Expressions run in turn, so that they share caches as in a gateway; the first rounds are the warm-up.
  for (let round = 0; round < rounds; round++) {
    for (const row of rows) {
      row.generated = Math.min(row.generated, nanosEach(row.program, scopes))
      row.hand = Math.min(row.hand, nanosEach(row.byHand, scopes))
    }
    missing = Math.min(missing, nanosEach(withoutJwt.program, anonymous))
  }
  return renderCel(rows, missing)
}

export function renderCel(rows, missing) {
  const ratios = rows.map(({ generated, hand }) => generated / hand)
  const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length)
  const against = missing / rows.find(({ name }) => name === NEEDS_JWT).generated
  return [
    'CEL: ns of CPU for one evaluation (loop included), minimum of the rounds',
    '',
    '| expression | generated | by hand | ratio |',
    '|---|---:|---:|---:|',
    ...rows.map(
      ({ source, generated, hand }, index) =>
        `| \`${source.replaceAll('|', '\\|')}\` | ${generated.toFixed(1)} | ${hand.toFixed(1)} | ${ratios[index].toFixed(2)}x |`,
    ),
    '',
    `- CEL: geometric mean against closures by hand ${verdict(mean, MOST_AGAINST_HAND)}`,
    `- CEL: a missing \`jwt\` against its success ${verdict(against, MOST_AGAINST_SUCCESS)}`,
  ].join('\n')
}

function verdict(got, most) {
  return `≤ ${most}x, ${got.toFixed(2)}x: ${got <= most ? 'met' : 'MISSED'}`
}

function nanosEach(program, scopes) {
  const before = process.cpuUsage()
  let kept = 0
  for (let i = 0; i < EVALUATIONS; i++) if (program.evaluate(scopes[i % CONTEXTS]) === true) kept++
  const { user, system } = process.cpuUsage(before)
  // The result is used, so that V8 cannot drop the evaluation.
  return kept < 0 ? NaN : ((user + system) * 1000) / EVALUATIONS
}
