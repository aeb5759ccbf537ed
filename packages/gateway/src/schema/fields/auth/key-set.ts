import { readJwkSet } from '../../../formats/jwk-set.ts'
import type { PublicJwk } from '../../../formats/jwk-set.ts'
import { Refusal, scalar } from '../../kit.ts'
import type { Schema } from '../../kit.ts'
import { textFile } from '../references.ts'

const expected = 'a JSON Web Key Set with a public RSA, EC or Ed25519 key'

/** A key set as text; the keys that can verify signatures come out. */
export function keySet(): Schema<PublicJwk[]> {
  return scalar(
    (input) => {
      if (typeof input !== 'string') return new Refusal('wrong_type')
      return input.length < 2 || input.length > 65_536 ? new Refusal('out_of_range') : readKeys(input)
    },
    { type: 'key set', expected, json: { type: 'string', minLength: 2, maxLength: 65_536 } },
  )
}

export function keySetFile(): Schema<PublicJwk[]> {
  return textFile(expected, readKeys)
}

function readKeys(text: string): PublicJwk[] | Refusal {
  const set = readJwkSet(text)
  return 'fault' in set ? new Refusal('bad_format', { detail: set.fault }) : set.keys
}
