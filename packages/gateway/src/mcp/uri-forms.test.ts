import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seeded } from '../testing/seeded.ts'
import { uriForms } from './uri-forms.ts'

for (const uri of [
  'demo://resource/static/document/architecture.md',
  'demo://Resource/static',
  'db://host:5432/table?limit=5',
  'urn:isbn:0451450523',
  'memo:insights',
  'file:///srv/My%20Docs/caf%C3%A9.txt',
  'gitlab://project/group%2Fname/readme',
  'https://example.com/',
  'http://[::1]:8080/a',
]) {
  test(`${uri} is canonical`, () => assert.ok(uriForms(uri).isCanonical))
}

for (const [uri, canonical] of [
  ['DEMO://a/b', 'demo://a/b'],
  [' demo://a/b', 'demo://a/b'],
  ['demo://a/b ', 'demo://a/b'],
  ['demo://a/\nb', 'demo://a/b'],
  ['de\tmo://a/b', 'demo://a/b'],
  ['demo://a/./b', 'demo://a/b'],
  ['demo://a/x/../b', 'demo://a/b'],
  ['demo://a/x/%2e%2E/b', 'demo://a/b'],
  ['demo://a//b', 'demo://a/b'],
  ['demo://a/%62', 'demo://a/b'],
  ['demo://a/b%2fc', 'demo://a/b%2Fc'],
  ['demo://a\\b', 'demo://a/b'],
  ['demo://user:secret@a/b', 'demo://a/b'],
  ['demo://a./b', 'demo://a/b'],
  ['demo://a:/b', 'demo://a/b'],
  ['demo://a:080/b', 'demo://a:80/b'],
  ['demo://a/b#part', 'demo://a/b'],
  ['demo://a/b#', 'demo://a/b'],
  ['demo://a/b?', 'demo://a/b'],
  ['demo://a/é', 'demo://a/%C3%A9'],
  ['demo://a/b%00', 'demo://a/b'],
  ['HTTPS://EXAMPLE.com:443', 'https://example.com/'],
  ['http://exämple.com/', 'http://xn--exmple-cua.com/'],
  ['http://0x7f.1/', 'http://127.0.0.1/'],
  ['file://localhost/etc/passwd', 'file:///etc/passwd'],
  ['urn:a/../b', 'urn:b'],
]) {
  test(`${JSON.stringify(uri)} is another spelling of ${canonical}`, () => {
    const { isCanonical, equivalents } = uriForms(uri!)
    assert.ok(!isCanonical)
    assert.ok(equivalents.includes(canonical!), equivalents.join(' '))
  })
}

for (const uri of ['', 'no scheme', '/etc/passwd', '//host/path', '1a://x', ' ']) {
  test(`${JSON.stringify(uri)} has no canonical form`, () => assert.ok(!uriForms(uri).isCanonical))
}

test('escaped separators are decoded as often as they are escaped', () => {
  assert.deepEqual(uriForms('demo://public/..%2Fsecret').decoded, ['demo://public/secret'])
  assert.ok(uriForms('demo://x/public/%252E%252E%252Fsecret').decoded.includes('demo://x/secret'))
  assert.ok(!uriForms(`demo://x/${'%25'.repeat(1)}${'25'.repeat(9)}2F`).isCanonical)
})

test('a query is one of the forms that deny rules see', () => {
  const { isCanonical, equivalents } = uriForms('file:///secret?download=1')
  assert.ok(isCanonical)
  assert.ok(equivalents.includes('file:///secret'))
})

const PIECES = [
  'a',
  'B',
  '.',
  '..',
  '%2e',
  '%2E%2e',
  '%2F',
  '%5c',
  '%61',
  '%C3%A9',
  '/',
  '//',
  '\\',
  '?',
  '#',
  '@',
  ':',
  ' ',
  '\t',
  '\n',
  'é',
  '%00',
  '%25',
  '80',
  '{x}',
  '[',
  '|',
  "'",
  '"',
]
const HEADS = [
  'demo://',
  'DEMO://',
  'http://',
  'https://h:443',
  'file:///',
  'file://localhost/',
  'urn:',
  'demo:',
  ' demo://',
  'demo:\\\\',
  'db://Host',
]

test('a canonical URI is what the parser of the JavaScript and Python SDKs makes of it', () => {
  const random = seeded(23)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  let canonical = 0
  for (let round = 0; round < 8_000; round += 1) {
    const uri = pick(HEADS) + Array.from({ length: 1 + Math.floor(random() * 6) }, () => pick(PIECES)).join('')
    const { isCanonical, equivalents } = uriForms(uri)
    const parsed = URL.canParse(uri) ? new URL(uri).href : null
    if (!isCanonical) continue
    canonical += 1
    // Deny rules see every form to which a server may parse a canonical URI.
    if (parsed !== null) assert.ok(parsed === uri || equivalents.includes(parsed), `${JSON.stringify(uri)} → ${parsed}`)
    for (const form of equivalents) assert.equal(typeof form, 'string')
  }
  assert.ok(canonical > 300, `${canonical}`)
})
