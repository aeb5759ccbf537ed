import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { trimElf } from './trim-elf.mjs'

const node = readFileSync(process.execPath)

test('a trimmed Node is smaller, runs, and loads native modules', (t) => {
  const trimmed = trimElf(node)
  const folder = mkdtempSync(join(tmpdir(), 'portico-trim-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const program = join(folder, 'node')
  writeFileSync(program, trimmed, { mode: 0o755 })
  const script =
    "console.log(process.version, require('@node-rs/bcrypt').verifySync('x', require('@node-rs/bcrypt').hashSync('x', 4)))"
  assert.equal(
    execFileSync(program, ['-e', script], { encoding: 'utf8', cwd: import.meta.dirname }),
    `${process.version} true\n`,
  )
  assert.ok(trimmed.length < node.length, `${trimmed.length} of ${node.length} bytes`)
})

test('a trimmed program stays as it is', () => {
  const once = trimElf(node)
  assert.ok(trimElf(once).equals(once))
})

test('other files are errors, and none is cut silently', () => {
  assert.throws(() => trimElf(Buffer.alloc(0)), /not a 64-bit little-endian ELF/)
  assert.throws(() => trimElf(Buffer.from('#!/bin/sh\n'.repeat(20))), /not a 64-bit little-endian ELF/)
  const thirtyTwoBits = Buffer.from(node.subarray(0, 4096))
  thirtyTwoBits.writeUInt8(1, 4)
  assert.throws(() => trimElf(thirtyTwoBits), /not a 64-bit little-endian ELF/)
  assert.throws(() => trimElf(node.subarray(0, 100)), /no table of segments/)
  assert.throws(() => trimElf(node.subarray(0, node.length >> 1)), /is cut off/)
})
