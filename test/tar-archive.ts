/** A POSIX tar archive of regular files, by name. */
export function tarOf(files: Record<string, Uint8Array>): Uint8Array {
  const blocks = Object.entries(files).flatMap(([name, content]) => [
    header(name, content.length),
    padded(content),
  ])
  return Buffer.concat([...blocks, Buffer.alloc(1024)])
}

function header(name: string, size: number): Buffer {
  const block = Buffer.alloc(512)
  block.write(name, 0, 100)
  block.write('0000644\0', 100)
  block.write(`${size.toString(8).padStart(11, '0')}\0`, 124)
  block.write('00000000000\0', 136)
  block.write('        0', 148)
  block.write('ustar\x0000', 257)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}

function padded(content: Uint8Array): Buffer {
  const block = Buffer.alloc(Math.ceil(content.length / 512) * 512)
  block.set(content)
  return block
}
