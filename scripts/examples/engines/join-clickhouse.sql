-- ClickHouse
CREATE FUNCTION ip_key AS ip -> multiIf(
  startsWith(IPv6StringToNum(ip), unhex('2002')),
  toFixedString(concat(unhex('00000000000000000000FFFF'), substring(IPv6StringToNum(ip), 3, 4)), 16),
  startsWith(IPv6StringToNum(ip), unhex('20010000')),
  IPv6StringToNum(IPv4NumToString(bitNot(reinterpretAsUInt32(reverse(substring(IPv6StringToNum(ip), 13)))))),
  startsWith(IPv6StringToNum(ip), unhex('0064FF9B0000000000000000')),
  toFixedString(concat(unhex('00000000000000000000FFFF'), substring(IPv6StringToNum(ip), 13)), 16),
  IPv6StringToNum(ip));
CREATE TABLE countries_table ENGINE = MergeTree ORDER BY tuple() AS
SELECT * FROM file('countries.csv', CSVWithNames, 'network String, country_code String');
CREATE DICTIONARY countries (network String, country_code String)
PRIMARY KEY network SOURCE(CLICKHOUSE(TABLE 'countries_table')) LAYOUT(IP_TRIE) LIFETIME(0);
SELECT ip, dictGet('countries', 'country_code', ip_key(ip)) AS country_code
FROM file('visits.csv', CSVWithNames, 'ip String') INTO OUTFILE 'located.csv' FORMAT CSVWithNames;
