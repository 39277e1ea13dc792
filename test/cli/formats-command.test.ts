import { expect, it } from 'vitest'
import { FORMAT_DEFINITIONS } from '../../src/enrich/formats/formats.ts'
import { geofix } from './enrich/command-line.ts'

it('geofix formats prints each format with its example', async () => {
  const { status, out, err } = await geofix(['formats'])
  expect({ status, err }).toEqual({ status: 0, err: '' })
  const parts = out.trimEnd().split('\n\n')
  expect(parts).toHaveLength(FORMAT_DEFINITIONS.length)
  FORMAT_DEFINITIONS.forEach(({ name, title, example }, index) => {
    const [first, ...lines] = parts[index]?.split('\n') ?? []
    expect(first?.split(/ {2,}/)).toEqual([name, title])
    expect(lines.map((line) => line.slice(12))).toEqual(example.split('\n'))
  })
})
