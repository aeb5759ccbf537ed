import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { parse, stringify } from 'yaml'
import { redactedConfigText } from '../admin/redacted-text.ts'
import { restoreHidden } from './hidden-values.ts'

const SOURCE = `# apiKey: sk-in-a-comment
routes:
- name: one
  key: sk-one
  host: one.example.com
- name: two
  key: >-
    sk-two
    over lines
  host: two.example.com # token: sk-beside
pin: { password: 1234, url: "https://me:hunter2@example.com/a" }
anchors: { a: &a sk-anchor, token: *a }
`

/** Applies a change to the redacted text, and restores the secrets. */
function edit(change: (shown: string) => string, source = SOURCE): string[] | string {
  const shown = redactedConfigText(source)
  assert.ok(shown !== null)
  const restored = restoreHidden(change(shown), source)
  return restored.ok
    ? restored.edited.text
    : restored.refused.map(({ path, line, column }) => `${path} ${line}:${column}`)
}

describe('hidden values of an edited text', () => {
  test('an unchanged text is restored byte for byte, with any line ends', () => {
    assert.equal(
      edit((shown) => shown),
      SOURCE,
    )
    const folded =
      'a:\n  key: |\n    one\n    two\n\n  b: 1\nlist:\n- token: plain\n    goes on\n- { token: "x", c: 1 }\n'
    assert.equal(
      edit((shown) => shown, folded),
      folded,
    )
  })

  test('a comment inside of a hidden value is put back with it, and is not taken for another', () => {
    const text = 'key: |- # was "sk-other-1"\n  sk-other-1\ntoken: sk-other-2 # was "sk-other-2"\n'
    assert.equal(
      edit((shown) => shown, text),
      text,
    )
  })

  test('edits around them keep them: other values, more items, another order, other lines', () => {
    const text = edit((shown) => shown.replace('one.example.com', 'other.example.com')) as string
    assert.equal(text, SOURCE.replace('one.example.com', 'other.example.com'))
    const more = edit((shown) => shown.replace('routes:\n', 'routes:\n- name: zero\n  host: x\n')) as string
    assert.equal(more, SOURCE.replace('routes:\n', 'routes:\n- name: zero\n  host: x\n'))
    const less = edit((shown) => shown.replace(/- name: one\n.*\n.*\n/, '')) as string
    assert.deepEqual((parse(less) as { routes: object[] }).routes, [
      { name: 'two', key: 'sk-two over lines', host: 'two.example.com' },
    ])
    const swapped = edit((shown) =>
      shown.replace('name: one', 'name: x').replace('name: two', 'name: one').replace('name: x', 'name: two'),
    ) as string
    assert.deepEqual(
      (parse(swapped) as { routes: { name: string; key: string }[] }).routes.map(({ name, key }) => [name, key]),
      [
        ['two', 'sk-two over lines'],
        ['one', 'sk-one'],
      ],
      'a name says which one is meant',
    )
  })

  test('a value over lines is put back where it does not fit as it was written', () => {
    const text = edit((shown) =>
      shown.replace(
        /- name: two\n {2}key: ("<redacted>")\n+ {2}host: two.example.com/,
        '- { name: two, key: $1, host: x }',
      ),
    )
    assert.deepEqual((parse(text as string) as { routes: object[] }).routes[1], {
      name: 'two',
      key: 'sk-two over lines',
      host: 'x',
    })
  })

  test('a value that is written anew takes the place of the hidden one', () => {
    const text = edit((shown) => shown.replace('key: "<redacted>"', 'key: sk-new')) as string
    assert.equal(text, SOURCE.replace('key: sk-one', 'key: sk-new'))
  })

  test('a mask in a new place is refused there', () => {
    assert.deepEqual(
      edit((shown) => `${shown}other: "<redacted>"\n`),
      ['other 13:8'],
    )
    assert.deepEqual(
      edit((shown) => shown.replace('- name: one', '- name: copy\n  key: "<redacted>"\n- name: one')),
      ['routes[0].key 4:8'],
    )
    assert.deepEqual(
      edit((shown) => shown.replace('  key:', '  keys:')),
      ['routes[0].keys 4:9'],
    )
    assert.deepEqual(
      edit((shown) =>
        shown
          .replace('me:<redacted>', '<redacted>')
          .replace('https://<redacted>@example.com/a', 'https://<redacted>@evil.example.com/a'),
      ),
      ['pin.url 11:37'],
    )
    assert.deepEqual(edit((shown) => shown.replace('pin:', '"<redacted>":')).length, 3)
    assert.deepEqual(
      edit((shown) => `${shown}# secret: <redacted>\n`),
      [' 13:1'],
    )
  })

  test('items that look alike are not taken for one another', () => {
    const keys = 'keys:\n- key: sk-a\n- key: sk-b\n'
    assert.equal(
      edit((shown) => shown, keys),
      keys,
    )
    assert.deepEqual(
      edit((shown) => shown.replace('- key: "<redacted>"\n', ''), keys),
      ['keys[0].key 2:8'],
    )
  })

  test('an edit that would have a hidden value shown is refused', () => {
    const headers = 'headers:\n- name: authorization\n  value: sk-header\n'
    assert.deepEqual(
      edit((shown) => shown.replace('authorization', 'x-plain'), headers),
      ['headers[0].value 3:10'],
    )
    assert.deepEqual(
      edit((shown) => shown.replace(', token: *a', '')),
      ['anchors.a 12:18'],
    )
  })
})

test('whatever is edited, no hidden value is lost, shown or taken for another', () => {
  const names = ['a', 'b', 'c', 'd']
  const item = fc.record({
    name: fc.constantFrom(...names),
    isNamed: fc.boolean(),
    isLong: fc.boolean(),
    place: fc.constantFrom('key', 'token', 'plain'),
    inner: fc.array(fc.constantFrom(...names), { maxLength: 2 }),
  })
  const step = fc.record({
    kind: fc.constantFrom('drop', 'copy', 'swap', 'rename', 'add', 'line'),
    at: fc.nat(20),
    to: fc.nat(20),
  })
  fc.assert(
    fc.property(
      fc.array(item, { minLength: 1, maxLength: 5 }),
      fc.array(step, { maxLength: 4 }),
      fc.boolean(),
      (items, steps, flow) => {
        let count = 0
        const secrets = new Map<string, string>()
        const value = items.map(({ name, isNamed, isLong, place, inner }, index) => {
          const secret = `S3CRET${isLong ? '\n' : '-'}${count++}-`
          // The owner of the secret is in the same item.
          secrets.set(secret, `${name}${index}`)
          return {
            ...(isNamed && { name }),
            owner: `${name}${index}`,
            [place === 'plain' ? 'password' : place]: secret,
            list: inner.map((each) => ({ name: each, n: 1 })),
          }
        })
        const source = stringify({ first: value, rest: { n: 1 } }, { collectionStyle: flow ? 'flow' : 'block' })
        const shown = redactedConfigText(source) ?? assert.fail('it is YAML')
        assert.doesNotMatch(shown, /S3CRET/)
        const text = applySteps(shown, steps, flow)
        const restored = restoreHidden(text, source)
        if (!restored.ok) return assert.ok(restored.refused.length > 0)
        assert.doesNotMatch(restored.edited.text, /<redacted>/, 'no mask is written')
        assert.doesNotMatch(redactedConfigText(restored.edited.text) ?? '', /S3CRET/, 'nothing is shown')
        const found = (parse(restored.edited.text) as { first: Record<string, unknown>[] }).first
        for (const each of found) {
          const secret = Object.values(each).find((one) => typeof one === 'string' && secrets.has(one))
          const isOwn = secret === undefined || secrets.get(secret as string) === each['owner']
          assert.ok(isOwn, `${text}\n${restored.edited.text}`)
        }
      },
    ),
    { numRuns: 400 },
  )
})

interface Step {
  kind: string
  at: number
  to: number
}

/** As people do it: items come, go, move and get other names. */
function applySteps(shown: string, steps: readonly Step[], flow: boolean): string {
  const tree = parse(shown) as { first: Record<string, unknown>[]; rest: unknown }
  let lines = 0
  for (const { kind, at, to } of steps) {
    const list = tree.first
    const index = list.length === 0 ? 0 : at % list.length
    const other = list.length === 0 ? 0 : to % list.length
    if (kind === 'drop') list.splice(index, 1)
    else if (kind === 'copy' && list[index] !== undefined) list.splice(other, 0, { ...list[index] })
    else if (kind === 'swap' && list[index] !== undefined && list[other] !== undefined)
      [list[index], list[other]] = [list[other], list[index]]
    else if (kind === 'rename' && list[index] !== undefined) list[index] = { ...list[index], name: `n${to}` }
    else if (kind === 'add') list.splice(other, 0, { name: `new${to}`, key: 'typed' })
    else lines++
  }
  return '# line\n'.repeat(lines) + stringify(tree, { collectionStyle: flow ? 'flow' : 'block' })
}
