import { hash } from 'node:crypto'
import type { Hash } from './hash.ts'

export const nodeHash: Hash = (name, bytes) => hash(name, bytes, 'hex')
