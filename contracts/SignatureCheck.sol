// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// SignatureCheck says whether a wallet made of code vouches for a signature,
/// also when the wallet is not on the chain yet. It never is on a chain itself:
/// its creation code is handed to eth_call, and what it "creates" is one byte,
/// 1 for yes and 0 for no. Whatever happens on the way happens in that call
/// alone and is forgotten.
contract SignatureCheck {
    // The end of a signature that brings along how to make its wallet (ERC-6492).
    bytes32 private constant WRAPPED = 0x6492649264926492649264926492649264926492649264926492649264926492;

    // What a wallet answers for yes (ERC-1271), in a whole word.
    bytes32 private constant YES = bytes32(bytes4(0x1626ba7e));

    constructor(address wallet, bytes32 digest, bytes memory signature) {
        bool good = check(wallet, digest, signature);
        assembly {
            mstore(0, good)
            return(31, 1)
        }
    }

    function check(address wallet, bytes32 digest, bytes memory signature) private returns (bool) {
        if (!wrapped(signature)) {
            return vouches(wallet, digest, signature);
        }
        assembly {
            mstore(signature, sub(mload(signature), 32)) // without the end
        }
        (address factory, bytes memory order, bytes memory inner) = abi.decode(signature, (address, bytes, bytes));
        if (vouches(wallet, digest, inner)) {
            return true;
        }
        // Not made yet, or not yet as it will be.
        return send(factory, order) && vouches(wallet, digest, inner);
    }

    function wrapped(bytes memory signature) private pure returns (bool) {
        if (signature.length < 32) {
            return false;
        }
        bytes32 end;
        assembly {
            end := mload(add(signature, mload(signature)))
        }
        return end == WRAPPED;
    }

    /// Asks the wallet. No more than a word of its answer is looked at, and an
    /// account without code says nothing.
    function vouches(address wallet, bytes32 digest, bytes memory signature) private view returns (bool) {
        if (wallet.code.length == 0) {
            return false;
        }
        bytes memory question = abi.encodeWithSelector(0x1626ba7e, digest, signature);
        bool ok;
        bytes32 answer;
        assembly {
            ok := staticcall(gas(), wallet, add(question, 32), mload(question), 0, 32)
            ok := and(ok, gt(returndatasize(), 31))
            answer := mload(0)
        }
        return ok && answer == YES;
    }

    function send(address target, bytes memory data) private returns (bool ok) {
        assembly {
            ok := call(gas(), target, 0, add(data, 32), mload(data), 0, 0)
        }
    }
}
