import type { Json } from '../middle.ts'
import type { Vector } from './embedding.ts'

export function isVector(value: Json | undefined): value is number[] {
  return Array.isArray(value) && value.every((number) => typeof number === 'number')
}

export function encodeVector(vector: Vector, encoding: 'float' | 'base64'): Vector {
  if (typeof vector === 'string') return encoding === 'base64' ? vector : floatsOf(vector)
  return encoding === 'base64' ? base64Of(vector) : vector
}

function base64Of(vector: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(vector.length * FLOAT_SIZE)
  for (const [at, number] of vector.entries()) bytes.writeFloatLE(number, at * FLOAT_SIZE)
  return bytes.toString('base64')
}

function floatsOf(base64: string): number[] {
  const bytes = Buffer.from(base64, 'base64')
  return Array.from({ length: Math.floor(bytes.length / FLOAT_SIZE) }, (_, at) => bytes.readFloatLE(at * FLOAT_SIZE))
}

const FLOAT_SIZE = 4
