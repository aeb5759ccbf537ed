import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CelError, compile } from '@portico/cel'
import { environment, expressions, makeScopes } from './kinds/cel-expressions.mjs'
import { measureCel, renderCel } from './kinds/cel.mjs'

test('handwritten code returns the same as the expressions', () => {
  for (const { source, byHand } of expressions) {
    const { program } = compile(source, environment)
    const outcomes = new Set()
    for (const scope of [...makeScopes({ withJwt: true }), ...makeScopes({ withJwt: false })]) {
      const [generated, hand] = [program.evaluate(scope), byHand(scope)]
      if (hand instanceof CelError) assert.equal(generated.kind, hand.kind, source)
      else assert.equal(generated, hand, source)
      outcomes.add(hand)
    }
    assert.ok(outcomes.size > 1, source)
  }
})

test('the table has a row for each expression, and bars that are judged', () => {
  assert.equal(measureCel({ rounds: 1 }).match(/^\| `/gm)?.length, expressions.length)
  const rows = [{ name: 'sub && in', source: 'a || b', generated: 12, hand: 10 }]
  const text = renderCel(rows, 240)
  assert.match(text, /\| `a \\\|\\\| b` \| 12\.0 \| 10\.0 \| 1\.20x \|/)
  assert.match(text, /≤ 1\.3x, 1\.20x: met/)
  assert.match(text, /≤ 10x, 20\.00x: MISSED/)
})
