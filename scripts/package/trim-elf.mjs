// Trims a 64-bit ELF program to the parts that a kernel loads: `node scripts/package/trim-elf.mjs FROM TO`. Symbol tables for
// debuggers and the table of sections go, which is a quarter of Node's size; symbols that native modules link to stay.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const MAGIC = Buffer.of(0x7f, 0x45, 0x4c, 0x46, 2, 1)
const HEADER_BYTES = 64
const SEGMENT_BYTES = 56

/**
 * Returns the trimmed program. A program that is not 64-bit, not little-endian or not complete is an error.
 *
 * @param {Buffer} program
 */
export function trimElf(program) {
  if (program.length < HEADER_BYTES || !program.subarray(0, MAGIC.length).equals(MAGIC))
    throw new Error('not a 64-bit little-endian ELF program')
  const [table, entryBytes, entries] = [
    Number(program.readBigUInt64LE(32)),
    program.readUInt16LE(54),
    program.readUInt16LE(56),
  ]
  if (entries === 0 || entryBytes !== SEGMENT_BYTES || table + entries * SEGMENT_BYTES > program.length)
    throw new Error('the ELF program has no table of segments')
  let end = table + entries * SEGMENT_BYTES
  for (let at = table; at < table + entries * SEGMENT_BYTES; at += SEGMENT_BYTES)
    end = Math.max(end, Number(program.readBigUInt64LE(at + 8)) + Number(program.readBigUInt64LE(at + 32)))
  if (end > program.length) throw new Error('the ELF program is cut off')
  const trimmed = Buffer.from(program.subarray(0, end))
  // No table of sections: its offset, the size and number of its entries, and the section with their names.
  trimmed.writeBigUInt64LE(0n, 40)
  trimmed.fill(0, 58, 64)
  return trimmed
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [from, to] = process.argv.slice(2)
  writeFileSync(to, trimElf(readFileSync(from)), { mode: 0o755 })
}
