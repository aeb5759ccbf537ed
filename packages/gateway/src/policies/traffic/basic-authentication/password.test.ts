import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPassword } from './password.ts'

/** Made by `openssl passwd -apr1`, crypt(3) and `htpasswd`. */
const known: [password: string, hash: string][] = [
  ['a', '$apr1$Sa1t.tl8$qFeYF7a2IQYzXsC4EuBYk.'],
  ['a', '$apr1$x$16j9.5e7KiXmuYFAYpPJM/'],
  ['password', '$apr1$Sa1t.tl8$ECJGR/FeI5tKuF6qDkZbN1'],
  ['longer password with spaces 1234567890', '$apr1$x$rK868M7jpwqj8rB13vJtk.'],
  ['pässwörd', '$apr1$Sa1t.tl8$c9lfsqpdjvowQ6FjdKIhL1'],
  ['a', 'abxxB7HlIeckU'],
  ['password', '.Z8W7.SsrA6UU'],
  ['', 'abmF1QH4PEr.E'],
  ['password', '{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g='],
  ['secret', '$2y$04$0LlrKdGzhnJOGxe7KgqIJO5SL4Kx58ry5fWpG/O4CkCTWszILvLyO'],
  ['secret', '$2a$04$0LlrKdGzhnJOGxe7KgqIJO5SL4Kx58ry5fWpG/O4CkCTWszILvLyO'],
  ['secret', '$2b$04$0LlrKdGzhnJOGxe7KgqIJO5SL4Kx58ry5fWpG/O4CkCTWszILvLyO'],
]

test('every kind of hash knows its password, and no other', async () => {
  for (const [password, hash] of known) {
    assert.equal(await isPassword(Buffer.from(password), hash), true, hash)
    for (const wrong of [`${password.slice(0, 5)}x`, 'x', password.toUpperCase() || 'y']) {
      assert.equal(await isPassword(Buffer.from(wrong), hash), false, `${hash} ${wrong}`)
    }
  }
})
