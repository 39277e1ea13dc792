-- PostgreSQL 15
CREATE FUNCTION ip_key(ip inet) RETURNS inet LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN ip <<= '2002::/16' THEN '0.0.0.0'::inet + ('x' || substr(encode(inet_send(ip), 'hex'), 13, 8))::bit(32)::bigint
    WHEN ip <<= '2001::/32' THEN '0.0.0.0'::inet + (~('x' || right(encode(inet_send(ip), 'hex'), 8))::bit(32))::bigint
    WHEN ip <<= '::ffff:0:0/96' OR ip <<= '64:ff9b::/96'
    THEN '0.0.0.0'::inet + ('x' || right(encode(inet_send(ip), 'hex'), 8))::bit(32)::bigint
    ELSE ip
  END
$$;
CREATE TABLE networks (network inet, country_code text, city text);
\copy networks FROM 'networks.csv' CSV HEADER
CREATE INDEX ON networks USING spgist (network); -- or: USING gist (network inet_ops)
ANALYZE networks;
CREATE TABLE visits (ip inet);
\copy visits FROM 'visits.csv' CSV HEADER
EXPLAIN SELECT ip, country_code, city FROM visits LEFT JOIN networks ON network >>= ip_key(ip);
\copy (SELECT ip, country_code, city FROM visits LEFT JOIN networks ON network >>= ip_key(ip)) TO 'located.csv' CSV HEADER
