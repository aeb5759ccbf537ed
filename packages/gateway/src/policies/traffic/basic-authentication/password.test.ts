import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CheckSlots } from './check-queue.ts'
import { isPassword } from './password.ts'

const atOnce = (): Promise<void> => Promise.resolve()

/** Made by `openssl passwd -apr1`, crypt(3) of glibc and `htpasswd`. */
const known: [password: string, hash: string][] = [
  ['a', '$apr1$Sa1t.tl8$qFeYF7a2IQYzXsC4EuBYk.'],
  ['a', '$apr1$x$16j9.5e7KiXmuYFAYpPJM/'],
  ['password', '$apr1$Sa1t.tl8$ECJGR/FeI5tKuF6qDkZbN1'],
  ['longer password with spaces 1234567890', '$apr1$x$rK868M7jpwqj8rB13vJtk.'],
  ['pässwörd', '$apr1$Sa1t.tl8$c9lfsqpdjvowQ6FjdKIhL1'],
  ['a', '$1$Sa1t.tl8$vvpDqdVbdfljAzJlQeVkR/'],
  ['a', '$5$Sa1t.tl8$i5waR1TqgNnq680xO6qjFMsS2UEhj0pgeqbbJ1zJln2'],
  ['a', '$6$Sa1t.tl8$s/GjmnfzCC/OWjIQkhJDoDOE7KeLQPSJEpUQfjg7uqrKbc8UoL8knwuCjq8pH5Ay08gKhhncqASwFJ2auqBa2/'],
  ['longer password with spaces 1234567890', '$1$Sa1t.tl8$phBKClMYrY910II56gqPC/'],
  ['longer password with spaces 1234567890', '$5$Sa1t.tl8$3r3d7e3PckdDjAmIVqxoISg0cYTVuzwSNBQ0pojhiR.'],
  [
    'longer password with spaces 1234567890',
    '$6$Sa1t.tl8$2T5SCHZCfWoRRWaF33Blke2BKrJYPVpTkQW1X9IFDRDagMTNa3m/.GWTg6vmi7F32EsMggBxVCaVgZD0c/IW5.',
  ],
  ['pässwörd', '$1$Sa1t.tl8$T6b5nCjMbFLskotV7neCX.'],
  ['pässwörd', '$5$Sa1t.tl8$yk0QWYX4euuA2NDzFdt5xqAjIG7p8OZDwzwlUJR3dW2'],
  ['pässwörd', '$6$Sa1t.tl8$EMbNZDeHvQTn7OT8hO1JVy6g.4md/ujmsq4EjYkzcM4Iu4sVCyYbNJCT8wDl1rY2CRGEv/40B3XbA5VVlYJHD/'],
  ['', '$1$Sa1t.tl8$8RNokez3kKy/g7c14oDZn/'],
  ['', '$5$Sa1t.tl8$31Ps66ZgVO6LayyY7DDcBm6JcQ3rkDLZvEdoerXxqF6'],
  ['', '$6$Sa1t.tl8$ftRDbBehlCXV8ze6eFCu6REdoIupEeKEcBuJRTyoU8O2Zr2lxmGDgA01FZR7YRMOLLuuRlmq.PBSywbM4vbrp1'],
  ['Hello world!', '$1$x$nOgEtOLmf3xhWqibKtjGl.'],
  ['Hello world!', '$5$rounds=1000$roundsto$hrvUM1YYcVW31O8ZUTTAb4VF3.bvERvCpxYKZAga1JC'],
  [
    'Hello world!',
    '$6$rounds=1400$anotherlongsalts$5FGyu8c4BZDX4wJgs0Un26YOw2XibT5eTkHF1I1aP3QqStoJI9BHD2YPJYsAjEePVGUyBjdZxcNqMWlrrbIOC.',
  ],
  [
    'Hello world!',
    '$6$0123456789abcdef$borNQb4Q87VhdsvRUrkAIOI29SOnSTZO9jyfh/XM94.IMNGHlu0GpQpzVx3iZCsDJYlnrC7J6GaF9MVSlWdEi.',
  ],
  ['xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', '$1$x$OuQPGwrCpQYx4vTr3m3Xp1'],
  [
    'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
    '$5$rounds=1000$roundsto$Lt3t3/rU.SJQwaYqVs8x8iEONHHZKjI5kP5gH4Eiam2',
  ],
  [
    'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
    '$6$rounds=1400$anotherlongsalts$LwzDR.1k24.Yk5XqNRD.1VoHL22u5bMxPP.W9EgA6oj8ewnex0.Rekf7j6hzTM09BM1OaPNuzZuE.vO08s94l0',
  ],
  [
    'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
    '$6$0123456789abcdef$r.WKz9Zdhlwekw/UyTW6q4PAxAW.u5FxW4z3fqHeN9nQyIvCxGuXjJKP5hViHouec.zpNMalGUgH9zznbtuBL/',
  ],
  ['password', '{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g='],
  ['secret', '$2y$04$0LlrKdGzhnJOGxe7KgqIJO5SL4Kx58ry5fWpG/O4CkCTWszILvLyO'],
  ['secret', '$2a$04$0LlrKdGzhnJOGxe7KgqIJO5SL4Kx58ry5fWpG/O4CkCTWszILvLyO'],
  ['secret', '$2b$04$0LlrKdGzhnJOGxe7KgqIJO5SL4Kx58ry5fWpG/O4CkCTWszILvLyO'],
]

test('every kind of hash knows its password, and no other', async () => {
  for (const [password, hash] of known) {
    assert.equal(await isPassword(Buffer.from(password), hash, atOnce), true, hash)
    for (const wrong of [`${password.slice(0, 5)}x`, 'x', password.toUpperCase() || 'y']) {
      assert.equal(await isPassword(Buffer.from(wrong), hash, atOnce), false, `${hash} ${wrong}`)
    }
  }
})

test('a long hash leaves turns to everything else', async () => {
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const setting = '$6$rounds=20000$salt'
  assert.equal(await isPassword(Buffer.from('secret'), `${setting}$${'a'.repeat(86)}`, new CheckSlots().giveWay), false)
  isOver = true
  assert.ok(turns >= 150, `${turns} turns`)
})
