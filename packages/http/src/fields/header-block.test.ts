import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { HeaderBlock, isHeaderValue, nameList } from './header-block.ts'
import { MessageHead, parseResponseHead } from '../http1/head.ts'

type Pair = [string, string]

const NAMES = ['a', 'A', 'b', 'Ab', 'aB', 'x-one', 'X-One', 'x_one', 'X.one', 'accept', 'x-two']
const name = fc.constantFrom(...NAMES)
const value = fc.constantFrom('', '1', 'two words', 'three, four', 'caf\xe9', '"q"', 'a\tb')
const OPERATIONS = ['set', 'add', 'remove', 'removeAlike', 'removePrefixed', 'removeWhere', 'clone'] as const
const operation = fc.record({
  op: fc.constantFrom(...OPERATIONS),
  name,
  value,
  prefix: fc.constantFrom('a', 'x', 'x-', 'x-one', 'x-one-more'),
})

test('a block agrees with a plain list of pairs, whatever is done to it', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(name, value), { maxLength: 8 }),
      fc.array(operation, { maxLength: 12 }),
      (received, operations) => {
        let block = parsed(received)
        let model: Pair[] = received.map(([n, v]) => [n, v])
        agree(block, model)
        for (const { op, name, value, prefix } of operations) {
          const lower = name.toLowerCase()
          const others = model.filter(([n]) => n.toLowerCase() !== lower)
          if (op === 'add') {
            block.add(name, value)
            model.push([name, value])
          } else if (op === 'set') {
            block.set(name, value)
            model = [...others, [name, value]]
          } else if (op === 'remove') {
            block.remove(lower)
            model = others
          } else if (op === 'removeAlike') {
            block.removeAlike(lower)
            model = model.filter(([n]) => n.toLowerCase().replace(/[_.]/g, '-') !== lower.replace(/[_.]/g, '-'))
          } else if (op === 'removePrefixed') {
            block.removePrefixed(prefix, lower)
            model = model.filter(([n]) => !n.toLowerCase().startsWith(prefix) || n.toLowerCase() === lower)
          } else if (op === 'removeWhere') {
            block.removeWhere((n) => n.includes(lower))
            model = model.filter(([n]) => !n.toLowerCase().includes(lower))
          } else {
            const original = block
            block = block.clone()
            const before = original.toText()
            block.add('only-in-the-copy', '1')
            block.remove('a')
            assert.equal(original.toText(), before, 'a clone is independent')
            model = [...model.filter(([n]) => n.toLowerCase() !== 'a'), ['only-in-the-copy', '1']]
          }
          agree(block, model)
        }
      },
    ),
    { seed: 11, numRuns: 300 },
  )
})

test('received lines are forwarded as they came', () => {
  const head = parseResponseHead(
    'HTTP/1.1 200 OK\r\nX-One:  spaced \t\r\nConnection: x-two\r\nx-two: 1\r\nb:2\r\n\r\n',
    10,
  )
  assert.ok(head instanceof MessageHead)
  assert.equal(head.headers.toText(), 'X-One:  spaced \t\r\nb:2\r\n')
  assert.equal(head.headers.get('x-one'), 'spaced')
})

test('received lines stay available after removals and additions', () => {
  const received: Pair[] = [
    ['A', '1'],
    ['x-one', '2'],
    ['b', '3'],
  ]
  const block = parsed(received)
  const seen = (of: HeaderBlock): Pair[] => {
    const found: Pair[] = []
    of.forEachReceived((n, v) => found.push([n, v]))
    return found
  }
  assert.deepEqual(seen(block), received)
  assert.equal(block.isEdited, false)
  block.remove('none')
  assert.equal(block.isEdited, false)
  const added = block.clone()
  added.add('c', '4')
  assert.equal(added.isEdited, true)
  block.remove('x-one')
  block.remove('a')
  assert.equal(block.isEdited, true)
  block.add('c', '4')
  assert.deepEqual(seen(block), received)
  assert.deepEqual(seen(block.clone()), received)
})

test('names are found in any case, from the first letter to the last', () => {
  const block = parsed([['AMZ-amz', '1']])
  assert.equal(block.get('amz-amz'), '1')
  block.removeAlike('amz.amz')
  assert.equal(block.size, 0)
})

test('only separators stand for each other in names that are alike', () => {
  for (const [name, isAlike] of [
    ['X_One', true],
    ['x.one', true],
    ['x-one', true],
    ['xaone', false],
    ['x-o-e', false],
    ['x,one', false],
    ['x/one', false],
    ['x^one', false],
    ['x`one', false],
  ] as const) {
    const block = HeaderBlock.of([[name, '1']])
    block.removeAlike('x-one')
    assert.equal(block.size, isAlike ? 0 : 1, name)
  }
})

test('a list of names finds names of its own lengths only, and none of more than 31 characters', () => {
  const long = 'n'.repeat(31)
  const list = nameList('ab', long)
  for (const [name, isFound] of [
    ['ab', true],
    ['aB', true],
    ['ac', false],
    ['abc', false],
    [long, true],
    [`${long}n`, false],
    // 34 is 2 beyond the 32 bits of the mask.
    ['ab'.repeat(17), false],
  ] as const) {
    assert.equal(HeaderBlock.of([[name, '1']]).hasOneOf(list), isFound, name)
    assert.equal(parsed([[name, '1']]).hasOneOf(list), isFound, name)
  }
})

test('a value that would break a line is rejected', () => {
  for (const bad of ['a\rb', 'a\nb', 'a\0b', 'a\u010ab', 'a\u010d\u010ab', '\u{1f600}']) {
    assert.throws(() => new HeaderBlock().add('x', bad), TypeError)
    assert.throws(() => new HeaderBlock().set('x', bad), TypeError)
    assert.equal(isHeaderValue(bad), false)
  }
  for (const good of ['', 'a b\tc', '\x80\xff', '~']) {
    assert.equal(HeaderBlock.of([['x', good]]).get('x'), good)
    assert.equal(isHeaderValue(good), true)
  }
  assert.equal(isHeaderValue('a\x7fb'), false)
})

function agree(block: HeaderBlock, model: Pair[]): void {
  const seen: Pair[] = []
  block.forEach((n, v) => seen.push([n, v]))
  assert.deepEqual(seen, model)
  assert.equal(block.size, model.length)
  assert.equal(block.toText(), model.map(([n, v]) => `${n}: ${v}\r\n`).join(''))
  for (const n of new Set(NAMES.map((each) => each.toLowerCase()))) {
    const values = model.filter(([other]) => other.toLowerCase() === n).map(([, v]) => v)
    assert.equal(block.get(n), values[0] ?? null)
    assert.equal(block.has(n), values.length > 0)
    assert.equal(block.hasOneOf(nameList('none', n, 'zz')), values.length > 0)
    assert.equal(block.joined(n), values.length === 0 ? null : values.join(', '))
    for (let i = 0; i <= values.length; i++) assert.equal(block.nth(n, i), values[i] ?? null)
  }
}

/** A block over received text, like that of a parsed head. */
function parsed(pairs: Pair[]): HeaderBlock {
  const text = 'HTTP/1.1 200 OK\r\n' + pairs.map(([n, v]) => `${n}: ${v}\r\n`).join('') + '\r\n'
  const head = parseResponseHead(text, 100)
  assert.ok(head instanceof MessageHead)
  return head.headers
}
