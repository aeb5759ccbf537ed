import type { LogValue } from '../log/access-log.ts'
import { attributeName, writeAttribute } from './attributes.ts'
import { textSize, varintSize, WireBuffer } from './wire-buffer.ts'

export interface Origin {
  /** The attributes of the resource that sends. */
  resource: Readonly<Record<string, LogValue>>
  /** The name and version of the instrumentation scope. */
  scope: { name: string; version: string }
}

/** Wraps items, each written with the tag `ITEM`, in an export request, whose layout logs, traces and metrics share. */
export function createEnvelope({ resource, scope }: Origin): (items: Uint8Array) => Buffer {
  const who = inField(RESOURCE, resourceBytes(resource))
  const what = inField(SCOPE, scopeBytes(scope))
  return (items) => {
    const ofScope = what.length + items.length
    const ofResource = who.length + 1 + varintSize(ofScope) + ofScope
    const wire = new WireBuffer(ofResource + 2 * HEAD)
    wire.byte(OF_RESOURCE)
    wire.varint(ofResource)
    wire.raw(who)
    wire.byte(OF_SCOPE)
    wire.varint(ofScope)
    wire.raw(what)
    wire.raw(items)
    return wire.view()
  }
}

function resourceBytes(attributes: Origin['resource']): Buffer {
  const wire = new WireBuffer()
  for (const [name, value] of Object.entries(attributes)) writeAttribute(wire, ATTRIBUTE, attributeName(name), value)
  return wire.take()
}

function scopeBytes({ name, version }: Origin['scope']): Buffer {
  const wire = new WireBuffer()
  writeText(wire, NAME, name)
  writeText(wire, VERSION, version)
  return wire.take()
}

function writeText(wire: WireBuffer, tag: number, text: string): void {
  const size = textSize(text)
  wire.byte(tag)
  wire.varint(size)
  wire.text(text, size)
}

function inField(tag: number, content: Buffer): Buffer {
  const wire = new WireBuffer(content.length + HEAD)
  wire.byte(tag)
  wire.varint(content.length)
  wire.raw(content)
  return wire.take()
}

/** Room for a tag and a length. */
const HEAD = 11
const OF_RESOURCE = 0x0a
const RESOURCE = 0x0a
const OF_SCOPE = 0x12
const SCOPE = 0x0a
/** The tag of each item. */
export const ITEM = 0x12
const ATTRIBUTE = 0x0a
const NAME = 0x0a
const VERSION = 0x12
