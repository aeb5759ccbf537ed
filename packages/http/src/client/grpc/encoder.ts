import { BinaryWriter } from '@bufbuild/protobuf/wire'

/** Returns an encoder that reuses one writer: a new writer for each message would have to grow again. */
export function encoderOf<Message>(
  encode: (message: Message, writer: BinaryWriter) => BinaryWriter,
): (message: Message) => Uint8Array {
  let writer = new BinaryWriter()
  return (message) => {
    try {
      const bytes = encode(message, writer).finish()
      if (bytes.length > MAX_KEPT) writer = new BinaryWriter()
      return bytes
    } catch (error) {
      // The writer still holds part of the failed message.
      writer = new BinaryWriter()
      throw error
    }
  }
}

/** One long message must not keep its memory forever. */
const MAX_KEPT = 64 * 1024
