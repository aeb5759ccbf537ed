import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { htpasswdLine, parseHtpasswd } from './htpasswd.ts'
import { Refusal } from '../../kit.ts'
import { validate } from '../../validate.ts'

const hashes = [
  '$2y$04$0LlrKdGzhnJOGxe7KgqIJO5SL4Kx58ry5fWpG/O4CkCTWszILvLyO',
  '$2a$10$0LlrKdGzhnJOGxe7KgqIJO5SL4Kx58ry5fWpG/O4CkCTWszILvLyO',
  '$apr1$x$JzZzpGvcyRmaRIUjVzP42/',
  '{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=',
  '$1$x$nOgEtOLmf3xhWqibKtjGl.',
  '$5$rounds=1000$roundsto$hrvUM1YYcVW31O8ZUTTAb4VF3.bvERvCpxYKZAga1JC',
  '$6$0123456789abcdef$borNQb4Q87VhdsvRUrkAIOI29SOnSTZO9jyfh/XM94.IMNGHlu0GpQpzVx3iZCsDJYlnrC7J6GaF9MVSlWdEi.',
]

function fault(text: string): string | null {
  const result = parseHtpasswd(text)
  return result instanceof Refusal ? result.detail : null
}

test('every kind of hash is read, comments and empty lines are skipped', () => {
  const lines = hashes.map((hash, index) => `user${index}:${hash}`)
  const file = `# people\r\n\n${lines.join('\r\n')}\n`
  assert.deepEqual(
    parseHtpasswd(file),
    hashes.map((hash, index) => ({ username: `user${index}`, hash })),
  )
})

test('an error names its line, and does not repeat the line', () => {
  const good = `alice:${hashes[2]}`
  assert.equal(fault(`${good}\nbob`), 'no colon in line 2')
  assert.equal(fault(`${good}\n\nbob:hunter2`), 'something else than a hash of a known kind in line 3')
  assert.equal(fault('bob:$6$salt$abc'), 'something else than a hash of a known kind in line 1')
  for (const rounds of ['999', '100001', '999999999']) {
    const hash = `$5$rounds=${rounds}$salt$${'a'.repeat(43)}`
    assert.equal(fault(`bob:${hash}`), 'a number of rounds outside 1000 to 100000 in line 1')
  }
  assert.equal(fault('bob:$2y$20$' + 'a'.repeat(53)), 'a bcrypt cost outside 4 to 15 in line 1')
  assert.equal(fault(`:${hashes[0]}`), 'a username that is empty or longer than 255 characters in line 1')
  assert.equal(fault(`a\tb:${hashes[0]}`), 'a username with control characters in line 1')
  assert.equal(fault(`${good}\n${good}`), 'a user a second time in line 2')
  assert.equal(fault('# nobody\n'), 'no users')
})

test('a DES crypt hash is rejected with its user, and without the hash', () => {
  const detail = 'a DES crypt hash of the user "bob", which is not supported: hash the password anew with `htpasswd -B`'
  assert.equal(fault(`alice:${hashes[2]}\nbob:abJnggxhB/yWI`), `${detail} in line 2`)
  const result = validate(htpasswdLine(), 'bob:abJnggxhB/yWI')
  assert.ok(!result.ok)
  assert.equal(result.problems[0]!.found, `found ${detail}`)
})

test('a refused line is not repeated in the problem', () => {
  const result = validate(htpasswdLine(), 'bob:my-plain-password')
  assert.ok(!result.ok)
  assert.equal(result.problems[0]!.found, 'found something else than a hash of a known kind')
  assert.ok(!JSON.stringify(result.problems).includes('my-plain-password'))
})

test('whatever the text, the result holds only names with known hashes', () => {
  const line = fc.oneof(
    fc.string(),
    fc.tuple(fc.string(), fc.constantFrom(...hashes, '', 'x', '$2y$99$')).map((parts) => parts.join(':')),
  )
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const result = parseHtpasswd(lines.join('\n'))
      if (result instanceof Refusal) return
      assert.equal(new Set(result.map(({ username }) => username)).size, result.length)
      for (const { username, hash } of result) {
        assert.ok(!username.includes(':') && username !== '' && hashes.includes(hash))
      }
    }),
    { seed: 3, numRuns: 500 },
  )
})
